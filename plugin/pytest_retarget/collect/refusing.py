"""Options that refuse to run what was collected: the errors are shown once, whichever process finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

__all__ = ["Refusing"]


class Refusing:
    """The hooks of one session. `output` is where an xdist worker's output has the errors that it found."""

    def __init__(self, config: pytest.Config, output: str) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._output = output
        self._errors: dict[str, None] = {}

    def refuse(self, errors: Sequence[str], items: list[pytest.Item]) -> None:
        """Run nothing. Under xdist the controller shows the errors, once for all workers."""
        if errors and not self._is_worker:
            raise pytest.UsageError(*errors)
        if errors:
            self._errors.update(dict.fromkeys(errors))
            items.clear()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what an xdist worker found at collection."""
        self._errors.update(dict.fromkeys(getattr(node, "workeroutput", {}).get(self._output, ())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Nothing was run: that is no success."""
        if self._is_worker:
            output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # set by xdist
            output[self._output] = list(self._errors)
        elif self._errors:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the errors that no target shows."""
        for error in self._errors:
            terminalreporter.write_line(f"ERROR: {error}", red=True)
