"""What the pytest processes of a session share."""

from __future__ import annotations

import pytest
from pytest_retarget.options import Settings
from pytest_retarget.session.services import compiles_at_a_time
from retarget.worker import available_cores


@pytest.mark.parametrize(
    ("jobs", "processes", "share"), [(8, 1, 8), (8, 3, 2), (1, 4, 1), (0, 1, available_cores()), (0, 1000, 1)]
)
def test_processes_share_the_compiles_at_a_time(jobs: int, processes: int, share: int) -> None:
    assert compiles_at_a_time(Settings(jobs=jobs), processes) == share
