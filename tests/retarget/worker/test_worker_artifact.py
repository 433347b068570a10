"""An artifact as a run reads it: into memory or mapped, and compared with its digest either way."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable
from pathlib import Path

import pytest
from retarget.support.errors import RetargetError
from retarget.worker.artifact import map_artifact, read_artifact

Read = Callable[[Path, str], bytes | memoryview]


@pytest.mark.parametrize("read", [read_artifact, map_artifact])
@pytest.mark.parametrize("content", [b"abc", b""])
def test_an_artifact_is_read_and_compared_with_its_digest(tmp_path: Path, read: Read, content: bytes) -> None:
    (path := tmp_path / "a").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    assert bytes(read(path, digest)) == bytes(read(path, "")) == content
    with pytest.raises(RetargetError) as caught:
        read(path, "00")
    expected = f"artifact {path} is damaged: its {len(content)} bytes have SHA-256 {digest}, expected 00; remove it"
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("read", [read_artifact, map_artifact])
def test_an_artifact_that_cannot_be_read_is_an_error(tmp_path: Path, read: Read) -> None:
    with pytest.raises(RetargetError) as caught:
        read(tmp_path / "a", "")
    assert str(caught.value) == f"artifact {tmp_path / 'a'} cannot be read: No such file or directory"


def test_a_mapped_artifact_is_its_file(tmp_path: Path) -> None:
    (path := tmp_path / "a").write_bytes(b"abc")
    assert isinstance(map_artifact(path, "").obj, mmap.mmap)
