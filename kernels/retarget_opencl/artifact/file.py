"""The artifact: one file with everything that a run needs, and nothing that is executed by reading it.

8 bytes   magic, b"RTGTOCL\\n"
4 bytes   format version, little-endian
32 bytes  SHA-256 of all that follows
8 bytes   length of the header, little-endian
header    JSON: profile, needs, program, sources of its kernels, lengths of the constants
constants one after another
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from retarget_opencl.artifact.program import Program
from retarget_opencl.device.profile import DeviceProfile

__all__ = [
    "ARTIFACT_SUFFIX",
    "FORMAT_VERSION",
    "ArtifactError",
    "KernelSource",
    "OpenClArtifact",
    "joined",
    "read_artifact",
    "write_artifact",
]

ARTIFACT_SUFFIX = ".oclx"
FORMAT_VERSION = 3
_MAGIC = b"RTGTOCL\n"
_FIXED = struct.Struct("<8sI32sQ")


class ArtifactError(Exception):
    """An artifact that cannot be read: not one, truncated, tampered with, or of another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSource:
    """A kernel in OpenCL C. `prelude` is what it needs before it, which kernels with the same may share."""

    prelude: str
    text: str


def joined(sources: Iterable[KernelSource]) -> str:
    """Return kernels as text, each prelude before the first kernel that has it. One program if there is one prelude."""
    texts: dict[str, list[str]] = {}
    for source in sources:
        texts.setdefault(source.prelude, []).append(source.text)
    return "\n".join("\n".join((prelude, *kernels)) for prelude, kernels in texts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClArtifact:
    """`sources` are those of the program's kernels, `profile` what it was compiled for, `needs` what it needs of a
    device: requirements (`retarget.profiles.requirements`)."""

    profile: DeviceProfile
    needs: tuple[str, ...]
    sources: tuple[KernelSource, ...]
    program: Program
    blobs: tuple[bytes, ...]
    digest: str = ""


def write_artifact(artifact: OpenClArtifact) -> bytes:
    """Return the artifact's bytes. Equal artifacts give equal bytes."""
    preludes = list(dict.fromkeys(source.prelude for source in artifact.sources))
    header = {
        "profile": artifact.profile.to_json(),
        "needs": list(artifact.needs),
        "preludes": preludes,
        "sources": [(preludes.index(source.prelude), source.text) for source in artifact.sources],
        "program": artifact.program.to_json(),
        "blobs": [len(blob) for blob in artifact.blobs],
    }
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    body = struct.pack("<Q", len(text)) + text + b"".join(artifact.blobs)
    return _FIXED.pack(_MAGIC, FORMAT_VERSION, hashlib.sha256(body).digest(), len(text)) + body[8:]


def read_artifact(data: bytes) -> OpenClArtifact:
    """Return what `write_artifact` wrote. Raises `ArtifactError`, whose message says what is wrong and what to do."""
    if len(data) < _FIXED.size or data[:8] != _MAGIC:
        shown = data[:8]
        msg = f"not an OpenCL artifact: it begins with {shown!r}, expected {_MAGIC!r}; compile with iree-opencl"
        raise ArtifactError(msg)
    _, version, digest, length = _FIXED.unpack_from(data)
    if version != FORMAT_VERSION:
        age = "newer" if version > FORMAT_VERSION else "older"
        found = f"format version {version}, {age} than the version {FORMAT_VERSION} that is read here"
        msg = f"the OpenCL artifact has {found}; compile it again"
        raise ArtifactError(msg)
    body = data[_FIXED.size - 8 :]
    if hashlib.sha256(body).digest() != digest:
        found = f"{len(data)} bytes, whose digest does not match"
        msg = f"the OpenCL artifact is truncated or was changed ({found}); compile it again"
        raise ArtifactError(msg)
    try:
        header = json.loads(body[8 : 8 + length])
        blobs, start = [], 8 + length
        for size in header["blobs"]:
            blobs.append(body[start : start + size])
            start += size
        return OpenClArtifact(
            profile=DeviceProfile.from_json(header["profile"]),
            needs=tuple(map(str, header["needs"])),
            sources=tuple(
                KernelSource(prelude=str(header["preludes"][number]), text=str(text))
                for _, (number, text) in zip(header["program"]["kernels"], header["sources"], strict=True)
            ),
            program=Program.from_json(header["program"]),
            blobs=tuple(blobs),
            digest=hashlib.sha256(data).hexdigest(),
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        msg = f"the OpenCL artifact's header is malformed ({type(error).__name__}: {error}); compile it again"
        raise ArtifactError(msg) from error
