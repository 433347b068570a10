"""A shell on a host, and copies of files: by the OpenSSH client, by adb, or by the commands of its declaration.

One shell process on the host takes all commands of a connection, one in each line of its standard input, and writes a
line with the exit status after what they print. So the status of a command is distinguished from that of the
connection: `ssh` exits with 255 if the connection fails, and so may a module.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from types import MappingProxyType
from typing import IO

from msgspec import Struct

from retarget.model import Host
from retarget.support.errors import RetargetError
from retarget.support.scratch import ScratchFolder

ANSWER_SECONDS = 20.0
"""The seconds that a host may take to connect, and for each command that runs no module."""

_END_SECONDS = 2.0

_SSH = (
    "-T",
    *("-o", "BatchMode=yes"),  # no prompts
    *("-o", "LogLevel=ERROR"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5"),
    *("-o", "ServerAliveCountMax=3"),  # a silent connection is given up after 15 s
)
_FOLDERS = MappingProxyType({"ssh": ".cache/retarget", "adb": "/data/local/tmp/retarget", "command": "/tmp/retarget"})  # noqa: S108
_LEASE_FOLDERS = MappingProxyType({"adb": "/data/local/tmp/retarget-leases"})
_READY = "retarget-ready"
_SHELL = (
    'nl=$(printf "\\nx"); nl=${nl%x}; exec 3<&0; printf "\\n%s 0\\n" '
    f'{_READY}; while read -r line <&3; do eval "$line"; done'
)
"""The host's shell: no line break, so that any login shell hands it on."""


class HostError(RetargetError):
    """A host is not reached, or does not do what it must. `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Answer(Struct, frozen=True, kw_only=True):
    """The result of a command on a host: its exit status, and what it wrote to both streams."""

    status: int
    out: bytes

    @property
    def text(self) -> str:
        """Its output, in one line."""
        return last_lines(self.out.decode(errors="replace")) or "no message"


def folder_of(host: Host) -> str:
    """Return the folder on a host that files are pushed to; a relative one is in the home folder."""
    return host.folder or _FOLDERS[host.kind]


def lease_folder_of(host: Host) -> str:
    """Return the folder on a host with the leases of its devices, which all its users share."""
    return host.lease_folder or _LEASE_FOLDERS.get(host.kind, "/tmp/retarget-host-leases")  # noqa: S108


def command_words(host: Host, command: str, further: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the command of this machine that has the host's shell run one. `further` are options of the client."""
    if host.kind == "ssh":
        words = ["ssh", *further, *host.options, "--", host.address, f"exec sh -c {shlex.quote(command)}"]
    elif host.kind == "adb":
        words = ["adb", *host.options, *(("-s", host.address) if host.address else ()), "shell", command]
    else:
        words = [word.replace("{command}", command) for word in host.run]
    return tuple(words)


def by_hand(host: Host, command: str) -> tuple[str, ...]:
    """Return the same for people: their login shell reads the command."""
    words = command_words(host, command)
    return (*words[:-1], command) if host.kind == "ssh" else words


class Connection:
    """A shell on a host that takes one command at a time, and copies of files. To be closed.

    With ssh, the shell's connection is the master of those that copy files, so that the host is logged in to once.
    """

    def __init__(self, host: Host, *, at_end: str = ":") -> None:
        """Connect. `at_end` is what the host's shell does where the connection ends. Raises `HostError`."""
        self.host = host
        self._scratch = ScratchFolder("ssh")
        self._control = self._scratch.path / "s"
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        further = (*_SSH, "-S", str(self._control), "-M", "-o", "ControlPersist=no") if host.kind == "ssh" else ()
        argv = command_words(host, f"{_SHELL}; {at_end}", further)
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
            )
            try:
                self._until(_READY, ANSWER_SECONDS)
            except HostError as error:
                msg = f"host {host.name!r}{f' ({host.address})' if host.address else ''} is not reached: {error}"
                test = shlex.join(by_hand(host, "true"))
                hint = f"`{test}` must work without a prompt" + (": try it with -o BatchMode=yes" if further else "")
                raise HostError(msg, hint) from error
        except OSError as error:
            self._clear()
            msg = f"host {host.name!r} is not reached: {argv[0]} does not start: {error.strerror or error}"
            raise HostError(msg, hint=f"install {argv[0]}") from error
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether the client runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the connection."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        with suppress(subprocess.TimeoutExpired):  # the shell ends with its input, and the client with the shell
            self._process.wait(_END_SECONDS)
        self._process.kill()
        self._process.wait()
        self._clear()

    def run(self, command: str, *, timeout: float | None = ANSWER_SECONDS) -> Answer:
        """Run a command in the host's shell, without standard input; file descriptor 3 is the connection.

        Raises `HostError` where it did not come to its end.
        """
        token = f"retarget-{uuid.uuid4().hex}"
        quoted = shlex.quote(command).replace("\n", "'\"$nl\"'")
        line = f'( eval {quoted} ) </dev/null 2>&1; printf "\\n%s %s\\n" {token} $?\n'
        try:
            _written(self._process.stdin, line.encode())
            out, status = self._until(token, timeout)
        except (OSError, ValueError, HostError) as error:  # ValueError: it was closed
            why = error if isinstance(error, HostError) else self._reason()
            msg = f"the connection to host {self.host.name!r} broke: {why}"
            raise HostError(msg) from error
        return Answer(status=int(status), out=out)

    def push(self, file: Path, remote: str) -> str:
        """Copy a file to the host, and return what the client said. `remote` is an absolute path.

        Whether it is there is for the host to say. Raises `HostError` where the client does not start.
        """
        if self.host.kind != "ssh":
            return self._copied("push", file, remote)
        further = (*_SSH, "-S", str(self._control), "-o", "ControlMaster=no")
        with file.open("rb") as stream:
            return self._client(command_words(self.host, f"cat > {shlex.quote(remote)}", further), stream)

    def content(self, remote: str) -> bytes:
        """Return what is in a file of the host. Raises `HostError`."""
        with tempfile.TemporaryDirectory(dir=self._scratch.path) as folder:
            file = Path(folder, "pulled")
            said = self._copied("pull", file, remote)
            if not file.is_file():
                msg = f"host {self.host.name!r}: {remote} was not pulled: {said or 'no message'}"
                raise HostError(msg)
            return file.read_bytes()

    def _copied(self, what: str, file: Path, remote: str) -> str:
        host = self.host
        if host.kind == "adb":
            serial = ("-s", host.address) if host.address else ()
            words = ["adb", *host.options, *serial, what, *([str(file), remote][:: 1 if what == "push" else -1])]
        else:
            template = host.push if what == "push" else host.pull
            words = [word.replace("{local}", str(file)).replace("{remote}", remote) for word in template]
        return self._client(words, subprocess.DEVNULL)

    def _client(self, argv: Sequence[str], stdin: IO[bytes] | int) -> str:
        """Run a client of this machine and return what it said, in a line; nothing where it succeeded."""
        try:
            done = subprocess.run(argv, stdin=stdin, capture_output=True, check=False)
        except OSError as error:
            msg = f"host {self.host.name!r}: {argv[0]} does not start: {error.strerror or error}"
            raise HostError(msg, hint=f"install {argv[0]}") from error
        said = last_lines(done.stderr.decode(errors="replace") or done.stdout.decode(errors="replace"))
        return said or f"exit status {done.returncode}" if done.returncode else ""

    def _until(self, token: str, timeout: float | None) -> tuple[bytes, str]:
        """Read what the shell writes up to a line that begins with a token, and return both. Raises `HostError`."""
        stream = self._process.stdout
        deadline = None if timeout is None else time.monotonic() + timeout
        mark, data = f"\n{token} ".encode(), bytearray(b"\n")
        while stream is not None:
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or not select([stream], [], [], left)[0]:
                self._process.kill()
                msg = f"no answer in {timeout:g} s"
                raise HostError(msg)
            chunk = os.read(stream.fileno(), 1 << 20)
            if not chunk:
                break
            seen = max(0, len(data) - len(mark))
            data += chunk
            if (at := data.find(mark, seen)) >= 0 and data.endswith(b"\n"):
                return bytes(data[1:at]), data[at + len(mark) :].decode(errors="replace").strip()
        raise HostError(self._reason())

    def _reason(self) -> str:
        """Return why the client has ended."""
        if self._said.closed:
            return "it was closed"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ANSWER_SECONDS)
        self._said.seek(0)
        said = last_lines(self._said.read().decode(errors="replace"))
        code = self._process.returncode
        ended = "its client hangs" if code is None else f"exit status {code}" if code >= 0 else f"signal {-code}"
        return f"{said} ({ended})" if said else ended

    def _clear(self) -> None:
        self._said.close()
        self._scratch.close()


def last_lines(text: str) -> str:
    """Return what a client says, in one line: its last ones are about the failure."""
    return "; ".join([line.strip() for line in text.splitlines() if line.strip()][-2:])


def _written(stream: IO[bytes] | None, data: bytes) -> None:
    view = memoryview(data)
    while stream is not None and view:
        view = view[stream.write(view) :]
