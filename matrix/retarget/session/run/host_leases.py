"""Leases of the devices of hosts: folders there, so that they hold between the users of a host, wherever they are.

A lease is the folder `DEVICE-SLOT.N` with the highest N; it is made by mkdir, which only one can do, and never taken
over: a session that finds it free, or its holder dead, makes N + 1, and then removes those before. The file in it that
is named by the holder's session becomes `free` at the end: by the session, or by the host's shell when the connection
ends. The holder renames `beat.*` every few seconds; where it stays the same for longer, nobody is there any more.
No clock of the host matters, and a full disk does not either.
"""

from __future__ import annotations

import hashlib
import shlex
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec
from msgspec.structs import replace

from retarget.model import Host
from retarget.session.run.lease import Holder, Lease, LeaseWait, OnLeaseWait, parse_holder
from retarget.worker.hosts import Answer, Connection, HostError, lease_folder_of

BEAT_SECONDS = 2.0
STALE_SECONDS = 15.0
"""How long a lease without a beat is waited for before it is taken for that of a dead session."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5

_TAKE = """\
umask 0; cd {folder} 2>/dev/null || {{ mkdir -p {folder} && cd {folder}; }} || exit 98
slot=0
while [ $slot -lt {slots} ]; do
    top=0
    for d in {name}-$slot.*; do [ -d "$d" ] && [ "${{d##*.}}" -gt $top ] && top=${{d##*.}}; done
    here={name}-$slot.$top; mine={name}-$slot.$((top + 1)); slot=$((slot + 1)); dead=
    for beat in $here/beat.*; do case {stale} in *" $beat "*) dead=1;; esac; done
    if [ $top != 0 ] && [ ! -e $here/free ] && [ -z "$dead" ]; then
        printf '%s\\n' "busy $beat $(cat $here/owner 2>/dev/null)"; continue
    fi
    said=$(mkdir $mine 2>&1) || {{ [ -d $mine ] && continue; echo "$said"; exit 98; }}
    for d in {name}-$((slot - 1)).*; do [ "${{d##*.}}" -le $((top + 1)) ] || {{ rmdir $mine; continue 2; }}; done
    : > $mine/{session}; : > $mine/beat.0; printf '%s\\n' {owner} > $mine/owner
    for d in {name}-$((slot - 1)).*; do [ $d = $mine ] || rm -rf $d; done
    echo "held $mine"; exit 0
done"""


class HostLeases:
    """Leases of devices of hosts. Its methods are for one thread. To be closed."""

    def __init__(self, holder: Holder) -> None:
        """`holder` is what others that wait learn of this process."""
        self._holder = holder
        self._hosts: dict[Host, _Leases] = {}

    @contextmanager
    def hold(
        self, host: Host, leases: Sequence[Lease], on_wait: OnLeaseWait | None = None
    ) -> Iterator[tuple[int, ...]]:
        """Hold leases of a host's devices; no file of this machine is locked for them. `on_wait` is called while others
        have them. Raises `UnavailableError`."""
        try:
            if host not in self._hosts or not self._hosts[host].alive:
                self._forget(host)
                self._hosts[host] = _Leases(host, self._holder)
            held = self._hosts[host]
            for lease in sorted(leases, key=lambda one: one.physical_id):  # one order for all: none waits for ever
                held.take(lease, on_wait)
        except HostError:
            self._forget(host)
            raise
        try:
            yield ()
        finally:
            with suppress(HostError):  # then the host's shell gives them back
                held.free()

    def close(self) -> None:
        """Give everything back and disconnect."""
        for host in tuple(self._hosts):
            self._forget(host)

    def _forget(self, host: Host) -> None:
        if (held := self._hosts.pop(host, None)) is not None:
            held.close()


class _Leases:
    """Those of one host, which a thread keeps from going stale."""

    def __init__(self, host: Host, holder: Holder) -> None:
        self._host, self._holder = host, holder
        self._folder = shlex.quote(lease_folder_of(host))
        self._session = f"by-{uuid.uuid4().hex}"
        free = f'for f in *.*/{self._session}; do [ -e "$f" ] && mv "$f" "${{f%/*}}/free"; done'
        self._connection = Connection(host, at_end=f"cd {self._folder} && {free}")
        self._lock = threading.Lock()
        self._held: list[str] = []
        self._closed = threading.Event()
        threading.Thread(target=self._beat, name="retarget-host-lease", daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._connection.alive

    def take(self, lease: Lease, on_wait: OnLeaseWait | None) -> None:
        """Wait for a slot of a device and take it. Raises `HostError`."""
        physical = lease.physical_id.removeprefix(f"{self._host.identity} ")  # which is called otherwise elsewhere
        name = hashlib.sha256(physical.encode()).hexdigest()[:32]
        start = time.monotonic()
        seen: dict[str, float] = {}
        pause = _FIRST_PAUSE
        while True:
            now = time.monotonic()
            stale = " ".join(beat for beat, since in seen.items() if now - since >= STALE_SECONDS)
            holder = replace(self._holder, concurrency=lease.concurrency, since=time.time())
            answer = self._run(
                _TAKE.format(
                    folder=self._folder,
                    name=name,
                    slots=lease.concurrency,
                    stale=shlex.quote(f" {stale} "),
                    session=self._session,
                    owner=shlex.quote(msgspec.json.encode(holder).decode()),
                )
            )
            lines = answer.out.decode(errors="replace").splitlines()
            if lines[-1:] and lines[-1].startswith("held "):
                self._held.append(lines[-1].removeprefix("held "))
                return
            if answer.status:
                msg = f"host {self._host.name!r}: no lease can be taken in {lease_folder_of(self._host)}: {answer.text}"
                raise HostError(msg, hint="`lease_folder` of the [[host]] names another folder")
            busy = [line.split(" ", 2)[1:] for line in lines if line.startswith("busy ")]
            seen = {beat: seen.get(beat, now) for beat, *_ in busy}
            holders = tuple(found for _, *owner in busy if owner and (found := parse_holder(owner[0].encode())))
            if on_wait is not None and holders:
                on_wait(LeaseWait(device=lease.device, seconds=time.monotonic() - start, holders=holders))
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def free(self) -> None:
        """Give all back. Raises `HostError`."""
        held, self._held = self._held, []
        if held:
            self._run("".join(f"mv {self._folder}/{one}/{self._session} {self._folder}/{one}/free\n" for one in held))

    def close(self) -> None:
        self._closed.set()
        with suppress(HostError), self._lock:
            self._connection.close()

    def _run(self, script: str) -> Answer:
        with self._lock:
            return self._connection.run(script)

    def _beat(self) -> None:
        """Say every few seconds that this session is there."""
        while not self._closed.wait(BEAT_SECONDS):
            with suppress(HostError), self._lock:
                if self._closed.is_set() or not self._connection.alive:
                    return
                for one in self._held:
                    here = f"{self._folder}/{one}"
                    self._connection.run(f"mv {here}/beat.* {here}/beat.{uuid.uuid4().hex}")
