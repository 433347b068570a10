"""Where data files are looked for, and how large they may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from data_errors import error_of
from retarget.support.files import DEFAULT_LIMIT, DataFiles, data_limit

pytestmark = pytest.mark.usefixtures("here")


def test_a_path_starts_at_the_base_and_stays_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "suite/case").mkdir(parents=True)
    (tmp_path / "suite/shared.bin").write_bytes(b"")
    files = DataFiles(folder=tmp_path / "suite", base=tmp_path / "suite/case")
    assert files.path("../shared.bin") == tmp_path / "suite/shared.bin"


@pytest.mark.parametrize("written", ["../../secret.bin", "link.bin", "linked/secret.bin"])
def test_a_path_that_leaves_the_folder_is_refused_also_by_a_link(tmp_path: Path, written: str) -> None:
    case = tmp_path / "suite/case"
    case.mkdir(parents=True)
    (tmp_path / "secret.bin").write_bytes(b"")
    (case / "link.bin").symlink_to(tmp_path / "secret.bin")
    (case / "linked").symlink_to(tmp_path)
    files = DataFiles(folder=tmp_path / "suite", base=case)
    assert error_of(files.path, written) == (
        f"data file {written} leads to {tmp_path}/secret.bin, outside the suite's folder {tmp_path}/suite; "
        "expected a file inside it: copy it there"
    )


def test_a_loop_of_links_is_reported(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "loop" in error_of(DataFiles(folder=tmp_path, base=tmp_path).path, "loop")


def test_a_file_over_the_limit_is_refused_until_the_limit_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "huge.bin").open("wb") as stream:
        stream.truncate(3 * DEFAULT_LIMIT)  # takes no space on disk
    files = DataFiles(folder=tmp_path, base=tmp_path)
    assert error_of(files.path, "huge.bin") == (
        "data file huge.bin has 3221225472 bytes, over the limit of 1073741824; "
        "to read it, set the environment variable RETARGET_MAX_DATA_BYTES to 3221225472 or more"
    )
    assert files.path("huge.bin", is_large=True) == tmp_path / "huge.bin"
    monkeypatch.setenv("RETARGET_MAX_DATA_BYTES", "3221225472")
    assert files.path("huge.bin") == tmp_path / "huge.bin"


@pytest.mark.parametrize("written", ["", "4 GiB", "0", "-1"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("RETARGET_MAX_DATA_BYTES", written)
    assert error_of(data_limit) == (
        f"the environment variable RETARGET_MAX_DATA_BYTES is {written!r}, "
        "expected a number of bytes, such as 4294967296"
    )


def test_the_smallest_limit_is_one_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETARGET_MAX_DATA_BYTES", "1")
    assert data_limit() == 1
