"""The artifact: one file with everything that a run needs, and nothing that is executed by reading it.

8 bytes   magic, b"RTGTOCL\n"
4 bytes   format version, little-endian
32 bytes  SHA-256 of the header's length and the header
8 bytes   length of the header, little-endian
header    JSON: profile, needs, program, sources of its kernels, lengths of the constants, and the SHA-256 of all that
          follows; filled up with blanks
constants each from a multiple of 64 bytes to the next, so that they can be used where the file is mapped

The host program is frozen data. Every function has registers, numbered from 0. An instruction is a tuple: its name,
then registers, numbers, texts or tuples of them, as in the interpreter's table. Structured control flow is written as
blocks and jumps. Timepoints do not exist: commands go to one in-order queue.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec import Struct
from retarget.support import RetargetError

from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.translation import Buffer

FORMAT_VERSION = 6
_MAGIC = b"RTGTOCL\n"
_FIXED = struct.Struct("<8sI32sQ")
_ALIGNMENT = 64


class ArtifactError(RetargetError):
    """An artifact that cannot be read: not one, truncated, tampered with, or of another version."""


class KernelSource(Struct, frozen=True, kw_only=True):
    """A kernel in OpenCL C. `prelude` is what it needs before it, which kernels with the same may share."""

    prelude: str
    text: str

    @property
    def uses_subgroups(self) -> bool:
        """Whether it uses subgroups of OpenCL's."""
        return "cl_khr_subgroups" in self.prelude


def joined(sources: Iterable[KernelSource]) -> str:
    """Return kernels as text, each prelude before the first kernel that has it. One program if there is one prelude."""
    texts: dict[str, list[str]] = {}
    for source in sources:
        texts.setdefault(source.prelude, []).append(source.text)
    return "\n".join("\n".join((prelude, *kernels)) for prelude, kernels in texts.items())


class OpenClArtifact(Struct, frozen=True, kw_only=True):
    """`sources` are those of the program's kernels, `profile` what it was compiled for, `needs` what it needs of a
    device: requirements (`retarget.profiles.requirements`). `digest` tells its content, constants included, from all
    others."""

    profile: DeviceProfile
    needs: tuple[str, ...]
    sources: tuple[KernelSource, ...]
    program: Program
    blobs: tuple[Buffer, ...]
    digest: str = ""


class _Header(Struct, frozen=True, kw_only=True):
    """`sources` are each the number of a prelude and a text, `constants` is the digest of all that follows."""

    profile: DeviceProfile
    needs: tuple[str, ...]
    preludes: tuple[str, ...]
    sources: tuple[tuple[int, str], ...]
    program: Program
    blobs: tuple[int, ...]
    constants: str


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def write_artifact(artifact: OpenClArtifact) -> bytes:
    """Return the artifact's bytes. Equal artifacts give equal bytes."""
    constants: list[Buffer] = []
    for blob in artifact.blobs:
        constants += [blob, bytes(_aligned(len(blob)) - len(blob))]
    digest = hashlib.sha256()
    for part in constants:
        digest.update(part)
    preludes = tuple(dict.fromkeys(source.prelude for source in artifact.sources))
    header = _Header(
        profile=artifact.profile,
        needs=artifact.needs,
        preludes=preludes,
        sources=tuple((preludes.index(source.prelude), source.text) for source in artifact.sources),
        program=artifact.program,
        blobs=tuple(map(len, artifact.blobs)),
        constants=digest.hexdigest(),
    )
    # Not `msgspec.json`, which has no infinities.
    text = json.dumps(msgspec.to_builtins(header), separators=(",", ":")).encode()
    text += b" " * (_aligned(_FIXED.size + len(text)) - _FIXED.size - len(text))
    head = hashlib.sha256(struct.pack("<Q", len(text)) + text).digest()
    return b"".join([_FIXED.pack(_MAGIC, FORMAT_VERSION, head, len(text)), text, *constants])


def read_artifact(data: Buffer, *, check_constants: bool = True) -> OpenClArtifact:
    """Return what `write_artifact` wrote; its constants are views of `data`.

    Without `check_constants` their digest is not compared, and they are not read. Raises `ArtifactError`, whose message
    says what is wrong and what to do.
    """
    view = memoryview(data)
    if len(view) < _FIXED.size or view[:8] != _MAGIC:
        shown = bytes(view[:8])
        msg = f"not an OpenCL artifact: it begins with {shown!r}, expected {_MAGIC!r}; compile with iree-opencl"
        raise ArtifactError(msg)
    _, version, digest, length = _FIXED.unpack_from(view)
    if version != FORMAT_VERSION:
        age = "newer" if version > FORMAT_VERSION else "older"
        found = f"format version {version}, {age} than the version {FORMAT_VERSION} that is read here"
        msg = f"the OpenCL artifact has {found}; compile it again"
        raise ArtifactError(msg)
    if hashlib.sha256(view[_FIXED.size - 8 : _FIXED.size + length]).digest() != digest:
        raise _damaged(len(view))
    constants = view[_FIXED.size + length :]
    try:
        header = msgspec.convert(json.loads(bytes(view[_FIXED.size : _FIXED.size + length])), _Header)
        artifact = OpenClArtifact(
            profile=header.profile,
            needs=header.needs,
            sources=tuple(
                KernelSource(prelude=header.preludes[number], text=text)
                for _, (number, text) in zip(header.program.kernels, header.sources, strict=True)
            ),
            program=header.program,
            blobs=tuple(_blobs(constants, header.blobs)),
            digest=digest.hex(),
        )
    except (msgspec.ValidationError, LookupError, ValueError, RecursionError) as error:
        msg = f"the OpenCL artifact's header is malformed ({type(error).__name__}: {error}); compile it again"
        raise ArtifactError(msg) from error
    is_whole = sum(map(_aligned, header.blobs)) == len(constants)
    if not is_whole or (check_constants and hashlib.sha256(constants).hexdigest() != header.constants):
        raise _damaged(len(view))
    return artifact


def _blobs(constants: memoryview, sizes: Iterable[int]) -> Iterator[memoryview]:
    start = 0
    for size in sizes:
        yield constants[start : start + size]
        start += _aligned(size)


def _damaged(size: int) -> ArtifactError:
    found = f"{size} bytes, whose digest does not match"
    return ArtifactError(f"the OpenCL artifact is truncated or was changed ({found}); compile it again")


_Plain = int | float | str | None
_Plains = _Plain | tuple[_Plain, ...]
_Nested = _Plain | tuple[_Plains, ...]
Scalar = _Plain | tuple[_Nested, ...]
"""A word of an instruction. The deepest are the jumps of a switch."""
Instruction = Annotated[tuple[Scalar, ...], msgspec.Meta(min_length=1)]


class Constant(Struct, frozen=True, kw_only=True, array_like=True):
    """A register that holds a constant. `kind` is `number`, `float` (hexadecimal text), `text`, `blob` (the index of
    one of the artifact's constants) or `null`."""

    register: int
    kind: str
    value: Scalar


class Function(Struct, frozen=True, kw_only=True):
    """`blocks` are tuples of instructions; the last of each is a jump or return. Arguments arrive in `parameters`."""

    name: str
    registers: int
    parameters: tuple[int, ...]
    constants: tuple[Constant, ...]
    blocks: tuple[tuple[Instruction, ...], ...]


class Export(Struct, frozen=True, kw_only=True, array_like=True):
    """A function that users may call. `arguments` and `results` are IREE types in text, `declaration` is for people."""

    name: str
    function: int
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    declaration: str = ""


class Kernel(Struct, frozen=True, kw_only=True, array_like=True):
    """What a dispatch must know. `bindings` and `constants` are ordinals in the order of the kernel's parameters,
    `groups` is the function that counts work-groups from the workload, `location` where its ops stand in the module.

    A kernel with `members`, the numbers of other kernels, does the work of all of them in one launch. Its parameters
    are those of each member and, after each, the member's work-groups in three dimensions; its own work-groups
    are theirs in a row.
    """

    name: str
    bindings: tuple[int, ...]
    constants: tuple[int, ...]
    workgroup_size: tuple[int, int, int]
    groups: int
    location: str = ""
    members: tuple[int, ...] = ()


class Program(Struct, frozen=True, kw_only=True):
    """`globals` are (name, initial value) pairs; a value that is not plain starts as None. `initializers` are the
    functions to call after loading, in order."""

    globals: tuple[tuple[str, Scalar], ...]
    functions: tuple[Function, ...]
    initializers: tuple[int, ...]
    exports: tuple[Export, ...]
    kernels: tuple[Kernel, ...]

    @property
    def launched(self) -> frozenset[Scalar]:
        """The numbers of the kernels that instructions launch: a member of another may be launched only with it."""
        words = (word for function in self.functions for block in function.blocks for word in block)
        return frozenset(word[1] for word in words if word[0] == "dispatch" and len(word) > 1)
