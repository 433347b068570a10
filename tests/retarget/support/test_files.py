"""Files that are written whole or not at all, and paths that must stay inside a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from retarget.support.errors import RetargetError
from retarget.support.files import (
    OutsideError,
    irregular,
    is_inside,
    read_bytes,
    replacing,
    resolve_inside,
    user_path,
    write_atomically,
    write_files,
)


def test_a_file_is_written_with_its_folder_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"first")
    write_atomically(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_another_process_removes_meanwhile_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"first")

    def removed(looked_at: Path) -> str:
        path.unlink()
        return irregular(looked_at)

    monkeypatch.setattr("retarget.support.files.irregular", removed)
    write_atomically(path, b"second")
    assert path.read_bytes() == b"second"


def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="found a named pipe, expected a file"):
        write_atomically(path, b"x")
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as beside:
            beside.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert resolve_inside(link / "a" / ".." / "file", link) == real / "file"


@pytest.mark.parametrize("written", ["../file", "away", "/file"])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, written: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "away").symlink_to(tmp_path / "elsewhere")
    assert not is_inside(folder / written, folder)
    with pytest.raises(OutsideError) as caught:
        resolve_inside(folder / written, folder)
    assert caught.value.path == (folder / written).resolve()


def test_what_is_no_path_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="null"):
        resolve_inside(tmp_path / "a\0b", tmp_path)


def test_a_tilde_is_a_home_folder_and_stays_where_there_is_no_such_user() -> None:
    assert user_path("~/x") == Path.home() / "x"
    assert user_path("~no such user/x") == Path("~no such user/x")


def test_a_file_of_more_bytes_than_the_system_says_is_read_whole() -> None:
    path = Path("/proc/self/cmdline")  # of size 0

    assert read_bytes(path) == path.read_bytes() != b""


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "gone")


def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("same")
    files = [(tmp_path / "a", "new"), (tmp_path / "file", "same"), (tmp_path / "deep/b", b"new")]
    in_the_way = [*files, (tmp_path / "file/c", "new")]
    with pytest.raises(RetargetError, match=r"cannot write .*file/c: Not a directory; nothing was written$"):
        write_files(in_the_way)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["file"]
    assert write_files(files) == [tmp_path / "a", tmp_path / "deep/b"]
    assert (tmp_path / "deep/b").read_text() == "new"


def test_files_of_another_content_are_replaced_by_force_only(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    files = [(tmp_path / "b", "new"), (tmp_path / "a", "new")]
    with pytest.raises(RetargetError, match=r"^found .*a, expected none or the same; ask; nothing was written$"):
        write_files(files, remedy="ask")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
    assert write_files(files, force=True) == [tmp_path / "b", tmp_path / "a"]
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new", "new"]
