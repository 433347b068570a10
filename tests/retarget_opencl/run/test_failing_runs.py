"""What fails on a real device costs one target: it fails at its stage with the reason, and the next one runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from opencl_support import ADD_ONE, Compile
from retarget.engine.run.service import RunService
from retarget.model import Module, RunTarget
from retarget.model.outcomes import RunOutcome, Stage
from retarget_opencl.artifact.file import OpenClArtifact, read_artifact, write_artifact
from retarget_opencl.artifact.program import Constant, Scalar

Change = Callable[[OpenClArtifact], OpenClArtifact]

HUGE = 1 << 45


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    folder = tmp_path_factory.mktemp("service")
    with RunService(extensions=(), default_timeout=120, lease_folder=folder / "leases", cache=folder) as service:
        yield service


def target_in(folder: Path, timeout: float | None) -> RunTarget:
    module = Module(name="m", path=folder / "m.mlir")
    return replace(run_target(compile_target(module=module, folder=folder), driver="opencl"), timeout=timeout)


def with_statement(statement: str) -> Change:
    """Change each kernel to begin with a statement."""

    def change(artifact: OpenClArtifact) -> OpenClArtifact:
        sources = [replace(one, text=one.text.replace("\n{\n", f"\n{{\n{statement}\n", 1)) for one in artifact.sources]
        assert sources != list(artifact.sources)
        return replace(artifact, sources=tuple(sources))

    return change


def with_program(*block: tuple[Scalar, ...]) -> Change:
    """Change what is called to one block, in which register 0 is more bytes than there are."""

    def change(artifact: OpenClArtifact) -> OpenClArtifact:
        program, number = artifact.program, artifact.program.exports[0].function
        huge = Constant(register=0, kind="number", value=HUGE)
        called = replace(program.functions[number], registers=2, constants=(huge,), blocks=(block,))
        functions = (*program.functions[:number], called, *program.functions[number + 1 :])
        return replace(artifact, program=replace(program, functions=functions))

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "timeout", "stage", "summary"),
    [
        pytest.param(
            with_statement("for (volatile int i = 0; i == 0;) ;"),
            8,
            Stage.RUN,
            "run timed out after 8 s in function 'checked'",
            id="a kernel without end",
        ),
        pytest.param(
            with_program(("br", 0, (), ())),
            8,
            Stage.RUN,
            "run timed out after 8 s in function 'checked'",
            id="a host program without end",
        ),
        pytest.param(
            with_statement("*(volatile __global int*)0 = 1;"),
            None,
            Stage.RUN,
            "device worker crashed: SIGSEGV in function 'checked'",
            id="a kernel that ends the process",
        ),
        pytest.param(
            with_statement("no C at all"),
            None,
            Stage.LOAD,
            "building the kernels failed with CL_BUILD_PROGRAM_FAILURE",
            id="a kernel that does not build",
        ),
        pytest.param(
            with_program(("allocate", 1, 0), ("return", ())),
            None,
            Stage.RUN,
            "CL_INVALID_BUFFER_SIZE: create_buffer failed: INVALID_BUFFER_SIZE",
            id="more memory than there is",
        ),
    ],
)
def test_a_failure_has_its_stage_and_reason_and_the_next_target_runs(
    *,
    service: RunService,
    compiled: Compile,
    tmp_path: Path,
    change: Change,
    timeout: float | None,
    stage: Stage,
    summary: str,
) -> None:
    sound = read_artifact(compiled(ADD_ONE.replace("EXPECTED", "4.0")))

    def run(artifact: OpenClArtifact, limit: float | None) -> RunOutcome:
        path = tmp_path / "m.oclx"
        path.write_bytes(write_artifact(artifact))
        return service.run(target_in(tmp_path, limit), path)

    failure = run(change(sound), timeout).failure
    assert failure is not None
    assert (failure.stage, failure.summary) == (stage, summary)
    assert run(sound, None).failure is None
