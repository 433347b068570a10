"""The artifact: one file with everything that a run needs, and nothing that is executed by reading it.

8 bytes   magic, b"RTGTOCL\\n"
4 bytes   format version, little-endian
32 bytes  SHA-256 of the header's length and the header
8 bytes   length of the header, little-endian
header    JSON: profile, needs, program, sources of its kernels, lengths of the constants, and the SHA-256 of all that
          follows; filled up with blanks
constants each from a multiple of 64 bytes to the next, so that they can be used where the file is mapped
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from retarget_opencl.artifact.program import Program
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.translation import Buffer

__all__ = [
    "FORMAT_VERSION",
    "ArtifactError",
    "KernelSource",
    "OpenClArtifact",
    "joined",
    "read_artifact",
    "write_artifact",
]

FORMAT_VERSION = 5
_MAGIC = b"RTGTOCL\n"
_FIXED = struct.Struct("<8sI32sQ")
_ALIGNMENT = 64


class ArtifactError(Exception):
    """An artifact that cannot be read: not one, truncated, tampered with, or of another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSource:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClArtifact:
    """`sources` are those of the program's kernels, `profile` what it was compiled for, `needs` what it needs of a
    device: requirements (`retarget.profiles.requirements`). `digest` tells its content, constants included, from all
    others."""

    profile: DeviceProfile
    needs: tuple[str, ...]
    sources: tuple[KernelSource, ...]
    program: Program
    blobs: tuple[Buffer, ...]
    digest: str = ""


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def write_artifact(artifact: OpenClArtifact) -> bytes:
    """Return the artifact's bytes. Equal artifacts give equal bytes."""
    preludes = list(dict.fromkeys(source.prelude for source in artifact.sources))
    header: dict[str, object] = {
        "profile": artifact.profile.to_json(),
        "needs": list(artifact.needs),
        "preludes": preludes,
        "sources": [(preludes.index(source.prelude), source.text) for source in artifact.sources],
        "program": artifact.program.to_json(),
        "blobs": [len(blob) for blob in artifact.blobs],
    }
    constants: list[Buffer] = []
    for blob in artifact.blobs:
        constants += [blob, bytes(_aligned(len(blob)) - len(blob))]
    digest = hashlib.sha256()
    for part in constants:
        digest.update(part)
    header["constants"] = digest.hexdigest()
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
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
        header = json.loads(bytes(view[_FIXED.size : _FIXED.size + length]))
        sizes = tuple(map(int, header["blobs"]))
        artifact = OpenClArtifact(
            profile=DeviceProfile.from_json(header["profile"]),
            needs=tuple(map(str, header["needs"])),
            sources=tuple(
                KernelSource(prelude=str(header["preludes"][number]), text=str(text))
                for _, (number, text) in zip(header["program"]["kernels"], header["sources"], strict=True)
            ),
            program=Program.from_json(header["program"]),
            blobs=tuple(_blobs(constants, sizes)),
            digest=digest.hex(),
        )
        expected = str(header["constants"])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        msg = f"the OpenCL artifact's header is malformed ({type(error).__name__}: {error}); compile it again"
        raise ArtifactError(msg) from error
    is_whole = sum(map(_aligned, sizes)) == len(constants)
    if not is_whole or (check_constants and hashlib.sha256(constants).hexdigest() != expected):
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
