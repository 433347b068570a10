"""Kernels are built together, kept one by one, and built again where their binary is missing or damaged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from opencl_support import find_or_skip
from retarget.profiles import Profile
from retarget.worker import KeptFiles
from retarget.worker.artifact import is_damaged
from retarget_opencl.artifact.file import KernelSource, joined
from retarget_opencl.device.devices import FoundDevice, profile_of
from retarget_opencl.internals import kernel_object
from retarget_opencl.run.device import Builds, build_options

if TYPE_CHECKING:
    import pyopencl as cl

PRELUDE = "#pragma OPENCL FP_CONTRACT ON\n"


def kernel(name: str, *, by: int = 2, prelude: str = PRELUDE) -> KernelSource:
    text = f"__kernel void {name}(__global int* a) {{ a[get_global_id(0)] *= {by}; }}\n"
    return KernelSource(prelude=prelude, text=text)


class CountedBuilds(Builds):
    """Counts what is compiled: the kernels of each program."""

    def __init__(self, found: FoundDevice, cache: Path) -> None:
        import pyopencl as cl

        super().__init__(cl.Context([found.device]), found, profile_of(found), cache)
        self.compiled: list[list[str]] = []

    def _from_source(self, sources: Sequence[KernelSource]) -> cl.Program:
        self.compiled.append([source.text.partition("(")[0].rpartition(" ")[2] for source in sources])
        return super()._from_source(sources)


Start = Callable[[], CountedBuilds]


@pytest.fixture(params=["text", "binary"])
def start(request: pytest.FixtureRequest, found: FoundDevice, tmp_path: Path) -> Start:
    """What a new process has: nothing but the cache, which has texts for PoCL and binaries for others."""
    version = "OpenCL 3.0 PoCL" if request.param == "text" else "OpenCL 3.0"
    return lambda: CountedBuilds(replace(found, version=version), tmp_path)


def test_where_one_kernel_changes_one_is_built_and_the_others_stay_in_their_binary(start: Start) -> None:
    start().build([kernel("one"), kernel("two"), kernel("three")])
    changed = [kernel("one"), kernel("two", by=3), kernel("three")]
    edited = start()
    programs = edited.build(changed)
    assert edited.compiled == [["two"]]
    assert programs[0] is programs[2]
    again = start()
    again.build(changed)
    assert again.compiled == []


def test_with_another_driver_of_the_same_version_or_other_variables_of_drivers_kernels_are_built_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    for change in (
        lambda: None,
        lambda: monkeypatch.setattr("retarget_opencl.run.device.icd_libraries", lambda: [("driver.so", 1, 2)]),
        lambda: monkeypatch.setenv("CL_CONFIG_CPU_VECTORIZER_MODE", "1"),
        lambda: None,
    ):
        change()
        (builds := start()).build([kernel("one")])
        compiled.append(builds.compiled)
    assert compiled == [[["one"]], [["one"]], [["one"]], []]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("content", [b"damaged", b""])
def test_a_damaged_file_is_built_again(start: Start, tmp_path: Path, content: bytes) -> None:
    start().build([kernel("one")])
    files = [path for path in KeptFiles(tmp_path).folder.rglob("*") if path.is_file()]
    assert len(files) == 2
    for path in files:
        path.write_bytes(content)
        again = start()
        again.build([kernel("one")])
        assert again.compiled == [["one"]]
        assert not is_damaged(path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("content_of_another", [b"no binary of this driver", b"\xff\xfe"])
def test_what_the_driver_does_not_take_is_built_again(start: Start, tmp_path: Path, content_of_another: bytes) -> None:
    builds = start()
    builds.build([kernel("one")])
    files = KeptFiles(tmp_path)
    for path in [path for path in files.folder.rglob("*") if path.is_file()]:
        content = files.read(path.name)
        if content is not None and len(content) != 64:
            files.write(path.name, content_of_another)
    again = start()
    again.build([kernel("one")])
    assert again.compiled == [["one"]]


@pytest.mark.parametrize("start", ["text"], indirect=True)
def test_what_is_kept_for_pocl_is_the_text(start: Start, tmp_path: Path) -> None:
    start().build([kernel("one"), kernel("two")])
    files = KeptFiles(tmp_path)
    contents = [files.read(path.name) for path in files.folder.rglob("*") if path.is_file()]
    assert joined([kernel("one"), kernel("two")]).encode() in contents


@pytest.mark.parametrize("start", ["text"], indirect=True)
def test_many_kernels_are_one_program_of_pocl(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget_opencl.run.device.available_cores", lambda: 2)
    assert len(set(map(id, start().build([kernel(f"k{number}") for number in range(16)])))) == 1


def test_options_come_from_the_device_and_from_what_a_kernel_needs(found: FoundDevice) -> None:
    real = profile_of(replace(found, platform="any"))  # of Oclgrind's kernels, nothing is optimised

    def device(**values: bool | str) -> Profile:
        known = ((one, one.name.removeprefix("opencl.")) for one in real.capabilities)
        return replace(real, capabilities=tuple(replace(one, value=values.get(name, one.value)) for one, name in known))

    subgroups = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
    rounded = "-cl-fp32-correctly-rounded-divide-sqrt"
    assert build_options(device(correctlyRoundedDivideSqrt=True), "") == ["-cl-std=CL1.2", rounded]
    assert build_options(device(correctlyRoundedDivideSqrt=False), "") == ["-cl-std=CL1.2"]
    assert build_options(device(version="3.0"), subgroups)[0] == "-cl-std=CL3.0"
    assert build_options(device(version="2.1"), subgroups)[0] == "-cl-std=CL2.0"
    dots = "#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable\n"
    assert build_options(device(version="3.1"), dots)[0] == "-cl-std=CL3.0"


def test_oclgrind_compiles_one_program_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its compiler crashes at times where two threads use it."""
    monkeypatch.setattr("retarget_opencl.run.device.available_cores", lambda: 4)
    oclgrind = find_or_skip("opencl://oclgrind/0")
    threads = set()

    class Watched(CountedBuilds):
        def _from_source(self, sources: Sequence[KernelSource]) -> cl.Program:
            threads.add(threading.get_ident())
            return super()._from_source(sources)

    builds = Watched(oclgrind, tmp_path)
    builds.build([kernel(f"k{number}", prelude=f"{PRELUDE}// {number}\n") for number in range(4)])
    assert (len(builds.compiled), threads) == (4, {threading.get_ident()})


def test_pyopencl_generates_no_functions_for_a_kernel(
    start: Start, found: FoundDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyopencl as cl
    from pyopencl import invoker

    builds = start()  # it has the context, without which Intel's runtime takes no program
    (program,) = builds.build([kernel("doubled")])
    generated: list[str] = []

    def watched(name: str, *_: object, **__: object) -> tuple[None, None]:
        generated.append(name)
        return None, None

    monkeypatch.setattr(invoker, "generate_enqueue_and_set_args", watched)
    made = kernel_object(program, "doubled")
    assert (made.function_name, made.num_args, generated) == ("doubled", 1, [])
    cl.Kernel(program, "doubled")
    assert generated == ["doubled"]
    with pytest.raises(cl.LogicError, match="INVALID_KERNEL_NAME"):
        kernel_object(program, "tripled")
    assert invoker.generate_enqueue_and_set_args is watched
    monkeypatch.delattr(invoker, "generate_enqueue_and_set_args")
    monkeypatch.setattr(cl, "Kernel", lambda _, name: name)
    assert kernel_object(program, "doubled") == "doubled"
