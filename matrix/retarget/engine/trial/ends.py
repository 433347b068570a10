"""How a target ends that neither passes nor fails.

It failed as expected, what it needs is missing, another target blocks it, a rule or an option skips it.
These are no errors: as with pytest's own outcomes, nothing that handles any `Exception` may take them.
"""

from __future__ import annotations


class End(BaseException):
    """A target neither passed nor failed, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AsExpected(End):
    """A target failed as its rule, or that of its compile target, says. `error` is how; None where another target
    reports it. `by_chance`: the rule is an intermittent one."""

    def __init__(self, reason: str, error: Exception | None = None, *, by_chance: bool = False) -> None:
        super().__init__(reason)
        self.error = error
        self.by_chance = by_chance


class Skip(End):
    """A target did not run."""


class Unavailable(Skip):
    """This machine lacks what a target needs. `hint` says what to install; `by` is the node id of the compile target
    that lacks the same, if it is that. `unsuitable`: its device is here, and lacks what the target requires."""

    def __init__(self, reason: str, hint: str = "", by: str = "", *, unsuitable: bool = False) -> None:
        super().__init__(reason)
        self.hint = hint
        self.by = by
        self.unsuitable = unsuitable


class NotTried(Unavailable):
    """A device that the target needs was lost during the session: there is no result, and none is due to the target."""


class Blocked(Skip):
    """A run target has no outcome because another one failed: its compile target, or one that was to give the results
    that its cases agree with. `by` is the node id of the one that reports the failure; empty if none in this session
    does. `elsewhere` is that of the compile target that reported it in the session that the artifacts come from."""

    def __init__(self, reason: str, by: str = "", elsewhere: str = "") -> None:
        super().__init__(reason)
        self.by = by
        self.elsewhere = elsewhere


class Excused(Skip):
    """The skip is requested: by a rule with `outcome = "skip"`, by `--retarget-artifacts` for a compile, or as
    `Unselected`."""


class ExcusedByRule(Excused):
    """A rule with `outcome = "skip"` asks for it: nobody expects a result."""


class Unselected(Excused):
    """`--retarget-case` selects no case of the target."""
