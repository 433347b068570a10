"""The rungs of a bring-up: how far a backend, or one target on it, has come."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Rung"]


class Rung(IntEnum):
    """How far something has come. A rung is reached by what has all rungs below it that concern it.

    `FOUND`, `OPENS` and `TRANSFERS` are about a driver alone, `COMPILES` is about a compiler alone: the two sides are
    climbed independently, and meet at `LOADS`.
    """

    NONE = -1
    """Nothing of it works: there is no driver, or the module does not compile."""
    FOUND = 0
    """The driver is found."""
    OPENS = 1
    """Its device opens."""
    TRANSFERS = 2
    """Buffers and transfers round-trip: the driver passes its conformance checks."""
    COMPILES = 3
    """The module compiles; needs no device."""
    LOADS = 4
    """The device takes the artifact."""
    DISPATCHES = 5
    """The work of a call starts on the device.

    The evidence is what the program says (`Program.report_work`), and the worker has passed it on before a crash or a
    hang comes: OpenCL's does when the first kernel of a call is about to be enqueued, IREE's in a process when the
    arguments are on the device and the function is entered. For other programs, and where each call has its own
    process, entering the call is the evidence.
    """
    COMPLETES = 6
    """All calls run to their end."""
    MATCHES = 7
    """All values match."""
    STABLE = 8
    """They match in each of several runs."""

    @property
    def word(self) -> str:
        """The rung in ladders, messages and records: `compiles`."""
        return self.name.lower()

    @classmethod
    def named(cls, word: str) -> Rung | None:
        """Return the rung of a word, None where it is none."""
        return _RUNGS.get(word)


_RUNGS = {rung.word: rung for rung in Rung}
