"""What fails on a real device costs one target: it fails at its stage with the reason, and the next one runs."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from opencl_support import ADD_ONE, Compile, find_or_skip
from retarget.model import Module, RunOutcome, RunTarget, Stage
from retarget.session import RunService
from retarget.worker.messages import RunModule
from retarget_opencl.artifact.file import Constant, OpenClArtifact, Scalar, read_artifact, write_artifact

Change = Callable[[OpenClArtifact], OpenClArtifact]

HUGE = 1 << 45
ADDRESSES, PART = 8 << 30, 1 << 30


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    folder = tmp_path_factory.mktemp("service")
    with RunService(extensions=(), default_timeout=120, lease_folder=folder / "leases", cache=folder) as service:
        yield service


def target_in(folder: Path, timeout: float | None) -> RunTarget:
    module = Module(name="m", path=folder / "m.mlir")
    return replace(run_target(compile_target(module=module, folder=folder), driver="opencl"), timeout=timeout)


def run(
    service: RunService, folder: Path, artifact: OpenClArtifact, timeout: float | None = None, device: str = ""
) -> RunOutcome:
    path = folder / "m.oclx"
    path.write_bytes(write_artifact(artifact))
    target = target_in(folder, timeout)
    if device:
        target = replace(target, runtime=replace(target.runtime, devices=(device,)))
    return service.run(RunModule(target=target, artifact=path))


def with_statement(statement: str) -> Change:
    """Change each kernel to begin with a statement."""

    def change(artifact: OpenClArtifact) -> OpenClArtifact:
        sources = [replace(one, text=one.text.replace("\n{\n", f"\n{{\n{statement}\n", 1)) for one in artifact.sources]
        assert sources != list(artifact.sources)
        return replace(artifact, sources=tuple(sources))

    return change


def with_program(*block: tuple[Scalar, ...], size: int = HUGE) -> Change:
    """Change what is called to one block, whose registers 0 to 2 are a size (more bytes than there are), 0 and 64."""

    def change(artifact: OpenClArtifact) -> OpenClArtifact:
        program, number = artifact.program, artifact.program.exports[0].function
        constants = tuple(Constant(register=at, kind="number", value=value) for at, value in enumerate((size, 0, 64)))
        called = replace(program.functions[number], registers=3 + len(block), constants=constants, blocks=(block,))
        functions = (*program.functions[:number], called, *program.functions[number + 1 :])
        return replace(artifact, program=replace(program, functions=functions))

    return change


FAILURES = {
    "a kernel without end": (
        with_statement("for (volatile int i = 0; i == 0;) ;"),
        (Stage.RUN, "run timed out after 8 s in function 'checked'"),
    ),
    "a host program without end": (
        with_program(("br", 0, (), ())),
        (Stage.RUN, "run timed out after 8 s in function 'checked'"),
    ),
    "a kernel that ends the process": (
        with_statement("*(volatile __global int*)0 = 1;"),
        (Stage.RUN, "device worker crashed: SIGSEGV in function 'checked'"),
    ),
    "a kernel that does not build": (
        with_statement("no C at all"),
        (Stage.LOAD, "building the kernels failed with CL_BUILD_PROGRAM_FAILURE"),
    ),
    "more memory than there is": (
        with_program(("allocate", 3, 0), ("return", ())),
        (Stage.RUN, "CL_INVALID_BUFFER_SIZE: create_buffer failed: INVALID_BUFFER_SIZE"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_stage_and_reason_and_the_next_target_runs(
    service: RunService, compiled: Compile, tmp_path: Path, name: str
) -> None:
    change, said = FAILURES[name]
    timeout = 8 if "without end" in name else None
    sound = read_artifact(compiled(ADD_ONE.replace("EXPECTED", "4.0")))
    failure = run(service, tmp_path, change(sound), timeout).failure
    assert failure is not None
    assert (failure.stage, failure.summary) == said
    assert run(service, tmp_path, sound).failure is None


def children() -> set[int]:
    """Return the processes that this one has started."""
    threads = Path("/proc/self/task").iterdir()
    return {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}


@pytest.mark.slow
@pytest.mark.parametrize("implementation", ["pocl", "intel"])
def test_a_device_that_runs_out_of_memory_says_so(compiled: Compile, tmp_path: Path, implementation: str) -> None:
    """Each buffer is allowed and used as soon as it is there; together they are more than there is.

    Its process is limited, and not this one, which runs other tests after this.
    """
    uri = f"opencl://{implementation}/0"
    find_or_skip(uri)
    sound = read_artifact(compiled(ADD_ONE.replace("EXPECTED", "4.0")))
    buffers = range(3, 3 + ADDRESSES // PART)
    used = [one for at in buffers for one in (("allocate", at, 0), ("fill", at, 1, 2, 1, "i8"))]
    before = children()
    with RunService(extensions=(), default_timeout=120, lease_folder=tmp_path / "leases", cache=tmp_path) as service:
        artifact = with_program(*used, ("return", ()), size=PART)(sound)
        assert run(service, tmp_path, sound, device=uri).failure is None
        (worker,) = children() - before
        resource.prlimit(worker, resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        failure = run(service, tmp_path, artifact, device=uri).failure
        assert failure is not None
        summary = "CL_OUT_OF_HOST_MEMORY: create_buffer failed: OUT_OF_HOST_MEMORY"
        assert (failure.stage, failure.summary) == (Stage.RUN, summary)
        assert run(service, tmp_path, sound, device=uri).failure is None
