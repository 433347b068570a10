"""The status of a bring-up as data: what is printed as text, as JSON, and what a page draws.

Fields are only added, with a default; one whose meaning changes raises `VERSION`.
"""

from __future__ import annotations

import msgspec

VERSION = 1


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen; fields by name alone."""


class Check(_Part, frozen=True, kw_only=True):
    """A conformance check of a driver. `message` is why it did not pass, empty where it did."""

    name: str
    passed: bool
    message: str = ""


class DriverStatus(_Part, frozen=True, kw_only=True):
    """How far a driver comes: `none`, `found`, `opens` or `transfers`, with its conformance checks. What its device
    announces leaves nothing to check for `not_applicable` more. `name` is that of a runtime config, or the driver's."""

    name: str
    rung: str
    checks: tuple[Check, ...] = ()
    not_applicable: int = 0

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that it does not pass."""
        return tuple(check for check in self.checks if not check.passed)


class RungCount(_Part, frozen=True, kw_only=True):
    """How many targets `reach` a rung, and how many of them `stop` there."""

    rung: str
    reach: int
    stop: int


class Excluded(_Part, frozen=True, kw_only=True):
    """Targets that the percentage leaves out for one reason. `state` is `permanent`, `unseen` or `not tried`."""

    state: str
    reason: str
    targets: tuple[str, ...]


class Reference(_Part, frozen=True, kw_only=True):
    """The result of the reference backend for a module. `target` is its target there, empty where there is none.

    `outcome` is `passes`, `fails`, `not run` (with the reason as `signature`) or `no such target`.
    """

    config: str
    target: str = ""
    outcome: str
    stage: str = ""
    signature: str = ""

    def __str__(self) -> str:
        where = f" at {self.stage}" if self.stage else ""
        return f"{self.config} {self.outcome}{where}{f': {self.signature}' if self.signature else ''}"


class Blocker(_Part, frozen=True, kw_only=True):
    """Targets that stop at one rung for one reason: each is freed when it is mended.

    `smallest` is the target of the smallest module, which is what `command` runs; where the module does not compile,
    its compile target. `size` is that of its file in bytes, `measure` what a compiler counts in it. `message` is that
    of its failure, as the tool says it, and `diagnostic` the first lines that say more. `known` is the reason of the
    expectation rule.
    """

    rung: str
    stage: str
    signature: str
    frees: int
    targets: tuple[str, ...]
    smallest: str
    module: str = ""
    size: int = 0
    measure: str = ""
    message: str = ""
    diagnostic: tuple[str, ...] = ()
    known: str = ""
    command: str
    reference: Reference | None = None


class Move(_Part, frozen=True, kw_only=True):
    """A target whose rung changed. `before` or `after` is empty where there was no such line."""

    target: str
    before: str = ""
    after: str = ""


class Moves(_Part, frozen=True, kw_only=True):
    """The moves since a revision of the ladder. Where that is not known, `unknown` says why, and nothing moved."""

    revision: str = ""
    subject: str = ""
    up: tuple[Move, ...] = ()
    down: tuple[Move, ...] = ()
    new: tuple[Move, ...] = ()
    unknown: str = ""


class Commit(_Part, frozen=True, kw_only=True):
    """The changes of the ladder in a commit: counts of targets, and the share of targets that match after it."""

    revision: str
    date: str
    subject: str
    up: int = 0
    down: int = 0
    new: int = 0
    gone: int = 0
    targets: int = 0
    percentage: float | None = None
    error: str = ""


class Next(_Part, frozen=True, kw_only=True):
    """The one thing to do next."""

    what: str
    why: str
    command: str = ""


class Status(_Part, frozen=True, kw_only=True):
    """All of it. `percentage` is the share of `counted` targets that match, rounded down to a tenth (None without any):
    of those that are seen and not permanent, of which `temporary` are below `matches`. `rungs` count all that were
    tried, the unseen too. Of these, `only_compiled` are compile targets that nothing runs: as high as they can be, they
    count as matching."""

    version: int = VERSION
    name: str
    percentage: float | None = None
    matches: int = 0
    counted: int = 0
    temporary: int = 0
    only_compiled: int = 0
    rungs: tuple[RungCount, ...] = ()
    drivers: tuple[DriverStatus, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    moved: Moves = Moves()
    log: tuple[Commit, ...] = ()
    next: Next
