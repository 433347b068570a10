"""What a program has, from the statistics that IREE's compiler prints."""

from __future__ import annotations

import pytest
from retarget.extension import ProgramStatistics
from retarget.support import RetargetError
from retarget_iree.modules.measure import stream_statistics


def test_a_program_has_the_dispatches_and_the_memory_of_its_statistics() -> None:
    lines = ['"dispatch-count": 3', '"transient-memory-size": 64']
    assert stream_statistics("\n".join(["m.mlir:1:1: warning: w", *lines])) == ProgramStatistics(
        dispatches=3, transient=64
    )
    for text in ("", *lines):
        with pytest.raises(
            RetargetError, match=r"^found no statistics of the phase stream in what the compiler printed$"
        ):
            stream_statistics(text)
