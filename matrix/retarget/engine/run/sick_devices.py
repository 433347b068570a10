"""Sick devices: gone, or hanging, after a target that ran on them. What one session finds, the others of the machine
learn from a note in the folder of leases.

A device that does not answer cools down before it is probed again, each time twice as long. Devices go by their
physical ids, whatever runtime config uses them; also by what a config says of them, for processes that have not opened
it. The host's CPU is nobody's alone: there, a sickness is that of one runtime config of one process.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from retarget.engine.limits import CoolDowns
from retarget.engine.run.lease import Holder
from retarget.engine.run.lease_folder import LockFile, create_lease_folder
from retarget.extension import UnavailableError
from retarget.model import RuntimeConfig
from retarget.model.outcomes import DeviceInfo
from retarget.support.errors import RetargetError
from retarget.support.text import printable

__all__ = ["SickDeviceError", "SickDevices", "Sickness", "sickness_keys"]

_LARGEST_NOTE = 16 * 1024
_LONGEST_TEXT = 500
_HOST = "host"


class SickDeviceError(UnavailableError):
    """A target is not tried, because a device that it needs was lost during the session. `str()` says which, when, and
    after which target."""


class Sickness(msgspec.Struct, frozen=True, kw_only=True):
    """That a device does not answer: since `when` (seconds since 1970), after the target `after`, as a probe `found`.
    It is not tried before `until`, which is 0 once it has recovered. `cool_down` is in seconds. `by` is who says so,
    empty for the session that reads it; `pid` and `session` are theirs."""

    device: str
    after: str
    found: str
    when: float
    until: float
    cool_down: float
    by: str = ""
    pid: int = 0
    session: str = ""

    @property
    def reason(self) -> str:
        """Why targets are not tried: the same words for all of them."""
        at = time.strftime("%H:%M:%S UTC", time.gmtime(self.when))
        by = f" (found by {self.by})" if self.by else ""
        return f"{self.device} was gone at {at}, after {self.after}: {self.found}{by}"


def sickness_keys(config: RuntimeConfig, infos: Sequence[DeviceInfo]) -> tuple[str, ...]:
    """Return what the devices of a runtime config go by; without `infos`, what the config says of them."""
    host = f"{config.host.identity} " if config.host is not None else ""
    named = f"{host}{config.driver} {config.devices} {config.env}"
    if infos and all(info.physical_id == "cpu" or not info.exclusive for info in infos):
        return (f"{_HOST} {config.name} {named}",)
    return (named, *(info.physical_id for info in infos if info.physical_id != "cpu"))


class SickDevices:
    """What is known of sick devices, in this process and in the folder of leases."""

    def __init__(self, folder: Path, *, holder: Holder, cool_downs: CoolDowns) -> None:
        """`holder` is what other sessions learn of this one."""
        self._folder = folder
        self._holder = holder
        self._cool_downs = cool_downs
        self._own: dict[str, Sickness] = {}
        self._notes: dict[str, LockFile] = {}

    def of(self, keys: Iterable[str]) -> Sickness | None:
        """Return the last sickness of devices, also one that has passed."""
        found = [sickness for key in keys if (sickness := self._read(key)) is not None]
        return max(found, key=lambda one: (one.until, one.when), default=None)

    @property
    def present(self) -> Sickness | None:
        """One that this process has found, of a device other than the host's CPU, and that has not passed."""
        return next((one for key, one in self._own.items() if one.until and not key.startswith(_HOST)), None)

    def lost(self, keys: Sequence[str], device: str, *, after: str, found: str) -> Sickness:
        """Note that devices did not answer a probe."""
        now, known = time.time(), self.of(keys)
        if known is None or not known.until:
            first = self._cool_downs.first
            why = " ".join(found.split())[:_LONGEST_TEXT]
            sickness = Sickness(device=device, after=after, found=why, when=now, until=now + first, cool_down=first)
        else:
            longer = min(2 * known.cool_down, self._cool_downs.longest)
            sickness = msgspec.structs.replace(known, until=now + longer, cool_down=longer)
        self._write(keys, sickness)
        return sickness

    def recovered(self, keys: Sequence[str]) -> None:
        """Note that devices answer again. What was opened before they fell sick is of no use any more."""
        known = self.of(keys)
        if known is not None and known.until:
            self._write(keys, msgspec.structs.replace(known, until=0.0))

    def close(self) -> None:
        """Close the files."""
        for note in self._notes.values():
            note.close()

    def _note(self, key: str) -> LockFile:
        if key not in self._notes:
            name = hashlib.sha256(key.encode()).hexdigest()[:32]
            self._notes[key] = LockFile(self._folder / f"{name}.sick")
        return self._notes[key]

    def _read(self, key: str) -> Sickness | None:
        """Return what is known of a device. Anyone may have written it, so it is not believed for long, and no longer
        than who wrote it lives: a session that begins is to find out by itself."""
        if key.startswith(_HOST):
            return self._own.get(key)
        try:
            if not self._note(key).exists():
                return self._own.get(key)
            said = msgspec.json.decode(self._note(key).read(_LARGEST_NOTE), type=Sickness)
        except (msgspec.MsgspecError, UnicodeDecodeError, RetargetError):  # a lease says what is wrong with the folder
            return self._own.get(key)
        texts = {name: printable(getattr(said, name)[:_LONGEST_TEXT]) for name in ("device", "after", "found", "by")}
        if said.session == self._holder.session:
            texts["by"] = ""
        now, longest = time.time(), self._cool_downs.longest
        until = min(said.until, now + longest if _is_alive(said.pid) else now)
        cool_down = max(0.0, min(said.cool_down, longest))
        when = max(0.0, min(said.when, now))
        return msgspec.structs.replace(said, **texts, when=when, until=until, cool_down=cool_down)

    def _write(self, keys: Iterable[str], sickness: Sickness) -> None:
        holder = self._holder
        who = f"{holder.user}: {holder.command} (pid {holder.pid})"
        note = msgspec.structs.replace(sickness, by=who, pid=holder.pid, session=holder.session)
        for key in keys:
            self._own[key] = sickness
            if key.startswith(_HOST):
                continue
            with suppress(RetargetError):
                create_lease_folder(self._folder)
                if self._note(key).try_lock():  # else another process writes the same
                    self._note(key).write(msgspec.json.encode(note))
                    self._note(key).unlock()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return pid > 0
