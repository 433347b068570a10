"""The profiles that ship."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.profiles import Profile
from retarget.profiles.files import shipped_profiles


@pytest.mark.parametrize("file", shipped_profiles().values(), ids=shipped_profiles())
def test_a_shipped_profile_is_as_retarget_writes_it(file: Path) -> None:
    assert Profile.read(file).text() == file.read_text()
    assert Profile.read(file).description
