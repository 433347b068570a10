"""The exit status of a session that fails for more than its targets."""

from __future__ import annotations

import pytest

OTHER_FAILURES = pytest.StashKey[bool]()
"""Set where something other than a target failed."""


def fail_session(session: pytest.Session, status: pytest.ExitCode = pytest.ExitCode.TESTS_FAILED) -> None:
    """Let a session fail, with `status` if nothing else has failed, for something that is no result of a target."""
    session.config.stash[OTHER_FAILURES] = True
    session.exitstatus = session.exitstatus or status
