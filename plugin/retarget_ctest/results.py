"""The results of `retarget run`, as `pytest --retarget-results` writes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.engine.trial.record import session_start
from retarget.engine.trial.trial import Trial
from retarget.results.files import ResultsWriter
from retarget.results.record import TargetRecord
from retarget.support.text import strip_colour

__all__ = ["Results"]


class Results(ResultsWriter):
    """The file of one `retarget run`. Paths in it are relative to the current folder, as node ids are."""

    def __init__(self, folder: Path, ids: Sequence[str]) -> None:
        """Raises `RetargetError` if the file cannot be written."""
        start = session_start(ids, Path.cwd(), sys.argv[1:])
        self._of = start.session
        super().__init__(folder, start)

    def add(self, trial: Trial, record: TargetRecord, text: str) -> None:
        """Write the record of a trial that has ended, and before it those of its earlier attempts. `text` is the whole
        report of a failure, empty for none. Raises `RetargetError` where that fails."""
        same = {"case_digest": record.case_digest, "trial_digest": record.trial_digest, "session": self._of}
        for one in (*trial.earlier, replace(record, text=text)):
            places = {name: _relative(getattr(one, name)) for name in ("file", "module_file")}
            self.write(replace(one, **same, **places, text=strip_colour(one.text)))


def _relative(path: str) -> str:
    return Path(os.path.relpath(path)).as_posix() if path else ""
