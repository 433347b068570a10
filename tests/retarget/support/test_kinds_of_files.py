"""What is at a path, what may be written, and what is written once."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest
from retarget.support.files import below_error, can_be_written, content_digest, irregular, write_once


def test_a_path_that_cannot_be_is_not_there(tmp_path: Path) -> None:
    long = "x" * 300
    (tmp_path / "there").touch()
    assert [below_error(text, tmp_path) for text in (".", "there::entry")] == [None, None]
    assert below_error(long, tmp_path) == f"found no file or folder {long!r} in {tmp_path}"
    assert below_error(long, tmp_path, is_there=False) is None
    for text in ("/there", "a/../there"):
        assert below_error(text, tmp_path, called="it") == f"found {text!r}, expected a path below it"
        assert below_error(text, tmp_path) == f"found {text!r}, expected a path below {tmp_path}"


def test_a_link_that_leads_nowhere_is_told_from_one_to_itself(tmp_path: Path) -> None:
    for name in ("gone", "loop"):
        (tmp_path / name).symlink_to({"gone": "nothing", "loop": tmp_path / "loop"}[name])
    assert irregular(tmp_path / "loop") == "a link to itself"
    assert irregular(tmp_path / "gone") == f"a link to 'nothing', which cannot be followed: {os.strerror(errno.ENOENT)}"


def test_a_folder_can_be_written_where_the_nearest_that_is_there_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert can_be_written(tmp_path / "new" / "newer")
    (tmp_path / "file").touch()
    assert not can_be_written(tmp_path / "file" / "below")
    (tmp_path / "file").chmod(0o755)
    assert not can_be_written(tmp_path / "file" / "below")
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (tmp_path, os.W_OK | os.X_OK))
    assert not can_be_written(tmp_path / "new")


def test_a_digest_is_of_the_content_or_says_why_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert content_digest(path) == "absent"
    for content in (b"one", b"two"):
        path.write_bytes(content)
        assert content_digest(path) == hashlib.sha256(content).hexdigest()
    assert content_digest(tmp_path) == "special"
    assert content_digest(path / "below") == "unreadable: Not a directory"


def test_what_is_written_once_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_once(path, b"first")
    write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_where_the_file_system_has_no_links_a_file_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = errno.EPERM

    def refuse(*_: object) -> None:
        raise OSError(number, "no links")

    monkeypatch.setattr(os, "link", refuse)
    write_once(tmp_path / "file", b"data")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"data"]
    number = errno.ENOSPC
    with pytest.raises(OSError, match="no links"):
        write_once(tmp_path / "other", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
