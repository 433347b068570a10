"""References to profiles: paths, and the names of those that installed packages ship."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from retarget.profiles.files import Profile, profile_file, shipped_profiles
from retarget.support.errors import RetargetError


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of `sys.path` with an installed package that names the module `npu.profiles` for its profiles."""
    distribution = tmp_path / "npu-1.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: npu\nVersion: 1\n")
    (distribution / "entry_points.txt").write_text("[retarget.profiles]\nnpu = npu.profiles\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "npu", raising=False)
    monkeypatch.setattr("retarget.profiles.files.shipped_profiles", shipped_profiles.__wrapped__)
    return tmp_path


def _file(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text('format = 1\ndriver = "npu"\n')
    return folder / name


def test_a_name_means_the_file_that_a_package_ships(packages: Path) -> None:
    file = _file(packages / "npu" / "profiles" / "small", "npu-one.toml")
    assert profile_file("npu-one") == file


def test_a_reference_that_ends_in_toml_is_a_path() -> None:
    assert profile_file("profiles/mali.toml") == Path("profiles/mali.toml")


def test_two_shipped_profiles_of_one_name_are_an_error_with_both_files(packages: Path) -> None:
    folder = packages / "npu" / "profiles"
    first, second = _file(folder / "a", "one.toml"), _file(folder / "b", "one.toml")
    message = f"two shipped profiles have the name 'one': {first} and {second}"
    with pytest.raises(RetargetError, match=re.escape(message)):
        profile_file("one")


def test_an_entry_point_without_a_package_is_an_error(packages: Path) -> None:
    with pytest.raises(RetargetError) as caught:
        profile_file("one")
    message = "entry point 'npu' of retarget.profiles: found 'npu.profiles', expected a package"
    assert str(caught.value) == message


def test_a_word_like_host_is_taken_for_it_and_a_file_with_errors_for_none(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("format = 2")
    assert (Profile.reference_error(str(tmp_path / "p.toml")) or "").startswith("the device profile cannot be used: ")
    assert (Profile.reference_error("hosst") or "").endswith("; did you mean 'host'?")
