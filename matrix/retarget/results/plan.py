"""The plan of a CI run: legs, each with the ids of the targets that it must run.

`retarget ci plan` writes it; `pytest --retarget-plan FILE --retarget-leg NAME` runs one leg of it, and the results of
that leg carry its name and the plan's digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from retarget.support.errors import RetargetError, display_path
from retarget.support.files import read_regular

VERSION = 2
"""The version of plan files, incremented when a field changes its meaning."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Frozen; fields by name alone."""


class Leg(_Part, frozen=True, kw_only=True):
    """One job: the targets `ids`, sorted, on a machine of `runner`. `labels` are that runner's.

    A leg of the kind `build` compiles on a machine that needs no device, and its artifacts travel to the legs of the
    kind `run` that name it in `needs`; those compile nothing. A leg of the kind `run` without `needs` compiles what it
    runs itself: its artifacts are for the very machine that compiles them (`host`). `digest` is `digest_of_ids` of
    `ids`. `seconds` is the predicted duration, 0 where nothing is known.
    """

    name: str
    kind: Literal["build", "run"]
    runner: str
    labels: tuple[str, ...] = ()
    ids: tuple[str, ...]
    digest: str
    seconds: float = 0.0
    needs: tuple[str, ...] = ()

    @classmethod
    def of(cls, ids: Iterable[str], **known: Any) -> Leg:
        """Return the leg of some targets."""
        ids = tuple(sorted(ids))
        return cls(ids=ids, digest=digest_of_ids(ids), **known)


class Waived(_Part, frozen=True, kw_only=True):
    """Targets that no leg runs, and why: a waiver of `ci.toml`."""

    ids: tuple[str, ...]
    reason: str
    issue: str = ""
    until: str = ""


class Plan(_Part, frozen=True, kw_only=True, omit_defaults=False):  # the version is always written
    """All legs of one event. No two legs have a target in common; together they have all that the event selects.

    `paths` are what pytest is given, relative to the folder of `ci.toml`; ids are node ids relative to that folder.
    `revision` is the commit of the checkout that it was made in, as in results.
    """

    version: int = VERSION
    event: str
    paths: tuple[str, ...]
    select: str = ""
    legs: tuple[Leg, ...] = ()
    waived: tuple[Waived, ...] = ()
    revision: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what is planned, at whatever revision: it identifies the plan of a result."""
        content = msgspec.to_builtins(self)
        del content["revision"]
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()

    @property
    def text(self) -> bytes:
        """The plan as JSON, with its digest."""
        return msgspec.json.format(msgspec.json.encode({"digest": self.digest} | msgspec.to_builtins(self))) + b"\n"

    def leg(self, name: str) -> Leg | None:
        """Return a leg by its name; None where there is none."""
        return next((leg for leg in self.legs if leg.name == name), None)

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Read a plan. Raises `RetargetError` for one that cannot be read, is damaged, of another version, or changed
        since it was written."""
        again, where = "write it again with `retarget ci plan`", display_path(path)
        try:
            data = read_regular(path)
        except OSError as error:
            msg = f"cannot read the plan {where}: {error.strerror or error}; {again}"
            raise RetargetError(msg) from error
        try:
            file = msgspec.json.decode(data, type=dict[str, Any])
            version = msgspec.convert(file, _Version).version
            if version != VERSION:
                msg = f"{where}: found a plan of version {version}, expected {VERSION}; {again} of this retarget"
                raise RetargetError(msg)
            digest = file.pop("digest", None)
            plan = msgspec.convert(file, Plan)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            msg = f"{where}: expected a plan, found other content: {error}; {again}"
            raise RetargetError(msg) from error
        if digest != plan.digest:
            changed = "a plan that was changed after it was written: its digest is not that of its content"
            msg = f"{where}: found {changed}; {again}"
            raise RetargetError(msg)
        return plan


def digest_of_ids(ids: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of target ids, sorted, a line each; what is no Unicode in them as `\\udcff`."""
    return hashlib.sha256("".join(f"{one}\n" for one in sorted(ids)).encode(errors="backslashreplace")).hexdigest()


class _Version(msgspec.Struct):
    version: int
