"""The artifact's file: what is written is read; what is damaged is refused, with what to do."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from msgspec.structs import replace
from opencl_support import shipped
from retarget_opencl.artifact.file import (
    ArtifactError,
    Constant,
    Export,
    Function,
    Kernel,
    KernelSource,
    OpenClArtifact,
    Program,
    joined,
    read_artifact,
    write_artifact,
)
from retarget_opencl.artifact.show import show_artifact


@pytest.fixture
def artifact() -> OpenClArtifact:
    function = Function(
        name="main",
        registers=3,
        parameters=(0,),
        constants=(Constant(register=1, kind="number", value=7), Constant(register=2, kind="float", value="0x1p+0")),
        blocks=((("scalar", "addi", "i32", 0, 0, 1), ("return", (0,))),),
    )
    program = Program(
        globals=(("counter", 3), ("table", None)),
        functions=(function,),
        initializers=(),
        exports=(Export(name="main", function=0, arguments=("i32",), results=("i32",)),),
        kernels=(Kernel(name="k", bindings=(0, 2), constants=(1,), workgroup_size=(32, 2, 1), groups=0),),
    )
    return OpenClArtifact(
        profile=shipped("cpu"),
        needs=("opencl.fp64",),
        sources=(KernelSource(prelude="// shared", text="__kernel void k() {}"),),
        program=program,
        blobs=(b"abc", b""),
    )


@pytest.mark.parametrize(
    ("block", "call", "message"),
    [
        (
            ((),),
            read_artifact,
            "header is malformed (ValidationError: Expected `array` of length >= 1 - at "
            "`$.program.functions[0].blocks[0][0]`",
        ),
        (
            (("return", {}),),
            read_artifact,
            "header is malformed (ValidationError: Expected `int | float | str | array | null`, got `object` - at "
            "`$.program.functions[0].blocks[0][0][1]`",
        ),
        ((("br", 9, (), ()),), show_artifact, "program is malformed (IndexError: tuple index out of range"),
    ],
)
def test_a_damaged_program_is_refused(artifact: OpenClArtifact, block: Any, call: Any, message: str) -> None:
    function = replace(artifact.program.functions[0], blocks=(block,))
    damaged = replace(artifact, program=replace(artifact.program, functions=(function,)))
    with pytest.raises(ArtifactError) as caught:
        call(write_artifact(damaged))
    assert str(caught.value) == f"the OpenCL artifact's {message}); compile it again"


def test_an_artifact_is_read_as_it_was_written(artifact: OpenClArtifact) -> None:
    read = read_artifact(write_artifact(artifact))
    assert (read.profile, read.needs, read.sources, read.program, read.blobs) == (
        artifact.profile,
        artifact.needs,
        artifact.sources,
        artifact.program,
        artifact.blobs,
    )


@pytest.mark.parametrize("sizes", [(), (0,), (1, 63, 64, 65), (128, 0, 3)])
def test_constants_are_read_each_from_a_multiple_of_64_bytes(artifact: OpenClArtifact, sizes: tuple[int, ...]) -> None:
    blobs = tuple(bytes([number + 1]) * size for number, size in enumerate(sizes))
    data = write_artifact(replace(artifact, blobs=blobs))
    assert read_artifact(data).blobs == blobs
    places = [data.index(blob, data.rindex(b"}")) for blob in blobs if blob]
    assert [place % 64 for place in places] == [0] * len(places)
    assert len(data) % 64 == 0
    assert len(data) - data.rindex(b"}") <= 64 * (len(blobs) + 1) + sum(sizes)


def test_what_a_digest_does_not_tell_is_not_looked_at(artifact: OpenClArtifact) -> None:
    data = bytearray(write_artifact(artifact))
    data[-1] ^= 1
    assert read_artifact(bytes(data), check_constants=False).blobs == artifact.blobs
    other = write_artifact(replace(artifact, blobs=(b"abd", b"")))
    digests = {read_artifact(one).digest for one in (write_artifact(artifact), other)}
    assert [len(digest) for digest in digests] == [64, 64]


def test_kernels_follow_what_they_share() -> None:
    sources = [
        KernelSource(prelude=prelude, text=text)
        for prelude, text in (("// a", "k1"), ("// cl_khr_subgroups", "k2"), ("// a", "k3"))
    ]
    assert joined(sources) == "// a\nk1\nk3\n// cl_khr_subgroups\nk2"
    assert joined([]) == ""
    assert [one.uses_subgroups for one in sources] == [False, True, False]


def test_kernels_are_launched_that_a_dispatch_names(artifact: OpenClArtifact) -> None:
    commands = (("free", 3), ("flush",), ("scalar", "dispatch", "i32", 4, 4), ("dispatch", 1, 5), ("return", ()))
    blocks = (commands, (("dispatch", 2, 6, 7), ("return", ())))
    function = replace(artifact.program.functions[0], blocks=blocks)
    assert replace(artifact.program, functions=(function,)).launched == {1, 2}


def test_a_kernel_without_a_source_is_refused(artifact: OpenClArtifact) -> None:
    with pytest.raises(ArtifactError, match=r"header is malformed \(ValueError: zip\(\) argument 2 is shorter"):
        read_artifact(write_artifact(replace(artifact, sources=())))


@pytest.mark.parametrize("kept", [60, 200, -1])
def test_a_truncated_artifact_is_refused(artifact: OpenClArtifact, kept: int) -> None:
    data = write_artifact(artifact)[:kept]
    shown = f"{len(data)} bytes, whose digest does not match"
    expected = f"the OpenCL artifact is truncated or was changed ({shown}); compile it again"
    with pytest.raises(ArtifactError) as caught:
        read_artifact(data)
    assert str(caught.value) == expected


def test_a_tampered_artifact_is_refused(artifact: OpenClArtifact) -> None:
    data = bytearray(write_artifact(artifact))
    data[-1] ^= 1
    with pytest.raises(
        ArtifactError, match=r"^the OpenCL artifact is truncated or was changed \(\d+ bytes, whose digest"
    ):
        read_artifact(bytes(data))


@pytest.mark.parametrize(("version", "age"), [(5, "older"), (99, "newer")])
def test_an_artifact_of_another_version_is_refused(artifact: OpenClArtifact, version: int, age: str) -> None:
    data = bytearray(write_artifact(artifact))
    data[8:12] = struct.pack("<I", version)
    message = rf"artifact has format version {version}, {age} than the version 6 that is read here; compile it again$"
    with pytest.raises(ArtifactError, match=message):
        read_artifact(bytes(data))


@pytest.mark.parametrize("data", [b"", b"RTGT", b"\x7fELF" + bytes(100)])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_artifact(data)
    assert str(caught.value) == (
        f"not an OpenCL artifact: it begins with {data[:8]!r}, expected b'RTGTOCL\\n'; compile with iree-opencl"
    )


def test_an_artifact_is_shown_for_a_person(artifact: OpenClArtifact) -> None:
    lines = show_artifact(write_artifact(artifact)).splitlines()
    assert "  compiled for arch cpu, half emulated, subgroups none" in lines
    assert "    0 k: 32x2x1 work-items, 2 buffers, 1 constants" in lines
    assert lines[-9:] == [
        "function main(0)",
        "  1 = number 7",
        "  2 = float '0x1p+0'",
        "  block 0",
        "    scalar addi i32 0 0 1",
        "    return (0,)",
        "",
        "// shared",
        "__kernel void k() {}",
    ]
