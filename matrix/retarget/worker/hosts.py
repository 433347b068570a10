"""A shell on a host, and copies of files: by the OpenSSH client, by adb, or by the commands of its declaration.

One shell process on the host takes all commands of a connection, one in each line of its standard input, and writes a
line with the exit status after what they print. So the status of a command is distinguished from that of the
connection: `ssh` exits with 255 if the connection fails, and so may a module.

A tool's calls on a host: its input files are stored by content, its output files are fetched.

    FOLDER/store/DIGEST.vmfb        pushed files: written to a temporary name, verified, renamed
    FOLDER/store/DIGEST.tool/…      a tool with the libraries beside it
    FOLDER/calls/ID/                output files of one connection's current call

Files that were not used for a week are removed; above 4 GiB also the least recently used, unless used in the last hour.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from select import select
from types import MappingProxyType
from typing import IO

from msgspec import Struct

from retarget.model import Host
from retarget.model.calls import UnavailableError
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


class HostError(UnavailableError, RetargetError):
    """A host is not reached, or does not do what it must."""


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
            stream, view = self._process.stdin, memoryview(line.encode())
            while stream is not None and view:
                view = view[stream.write(view) :]
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


_KEPT_DAYS = 7
_KEPT_KIB = 4 * 1024 * 1024

_ABSENT, _UNUSABLE = 97, 98
"""Exit statuses of the script around a call: files are missing, the folder cannot be used."""

_DIGEST = 'digest() { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; }'

_SET_UP = f"""\
mkdir -p {{folder}}/store {{folder}}/calls && cd {{folder}} || exit {_UNUSABLE}
pwd; uname -s; uname -m; uname -o 2>/dev/null || echo
grep -E '^(vendor_id|cpu |model|flags|features|CPU |Features|isa|uarch|m[a-z]+id)' /proc/cpuinfo 2>/dev/null \
    | grep -v MHz | sort -u | cksum
[ -z "$(find swept -mtime -1 2>/dev/null)" ] || exit 0
: > swept
find calls/* -prune -mtime +1 -exec rm -rf {{{{}}}} + 2>/dev/null
total=0
ls -t store | while read -r f; do
    size=$(du -sk "store/$f"); total=$((total + ${{{{size%%[!0-9]*}}}}))
    age="-mtime +{_KEPT_DAYS - 1}"; [ $total -le {_KEPT_KIB} ] || age="-mmin +60"
    [ -z "$(find "store/$f" -prune $age)" ] || rm -rf "store/$f"
done
exit 0"""

_CALL = f"""\
cd {{folder}} || exit {_UNUSABLE}
absent=
for f in {{needed}}; do [ -f "$f" ] || {{{{ absent=1; echo "$f"; }}}}; done
[ -z "$absent" ] || exit {_ABSENT}
{{touch}}
if [ -d {{call}} ]; then rm -f {{call}}/*; else mkdir -p {{call}} || exit {_UNUSABLE}; fi
{{command}} >{{call}}/stdout 2>{{call}}/stderr 3<&- &
tool=$!
{{{{ read -r _ <&3; kill -9 -$$ || kill -9 $tool; }}}} >/dev/null 2>&1 &
watch=$!
wait $tool; status=$?
kill $watch 2>/dev/null; wait $watch 2>/dev/null
cd {{call}} || exit {_UNUSABLE}
set --
for f in {{written}}; do [ -f $f ] && set -- "$@" $f; done
{{{{ wc -c "$@" /dev/null; cat "$@"; }}}} {{collect}} 2>/dev/null
exit $status"""
"""The tool and its child processes are killed when the connection, file descriptor 3, ends."""


class Platform(Struct, frozen=True, kw_only=True):
    """A host's own description: `uname -s` (`Android` there), `uname -m`, a checksum of the kind of its CPU."""

    system: str
    machine: str
    cpu: str


class RemoteCalls:
    """One user of a host's folder. To be closed. Raises `HostError` where the host or its connection fails."""

    def __init__(self, host: Host) -> None:
        """Connect, make the folder, and sweep it once a day."""
        self.host = host
        self._connection = Connection(host)
        self._call = f"calls/{uuid.uuid4().hex}"
        self._used: set[str] = set()
        try:
            answer = self._connection.run(_SET_UP.format(folder=shlex.quote(folder_of(host))))
        except HostError:
            self._connection.close()
            raise
        lines = answer.out.decode(errors="replace").splitlines()
        if answer.status or len(lines) < 3:
            self._connection.close()
            msg = f"host {host.name!r}: the folder {folder_of(host)} cannot be used: {answer.text}"
            raise HostError(msg, hint="`folder` of the [[host]] names another")
        self.folder = lines[0]
        system, machine, known, *cpu = (*lines[1:], "")
        self.platform = Platform(system=known if known == "Android" else system, machine=machine, cpu=cpu[0])

    def close(self) -> None:
        """Remove the files of the last call and disconnect."""
        with suppress(HostError):
            self._connection.run(f"rm -rf {shlex.quote(self.folder)}/{self._call}")
        self._connection.close()

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Sequence[tuple[str, str]] = (),
        needs: Mapping[str, Path] | None = None,
        outputs: Sequence[Path] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the host in its folder, and return what it wrote to both streams; the files that it wrote
        are copied to `outputs`.

        `needs` are the files that it needs: their names on the host (`pushed_name`), and the files to push where one is
        missing. In `argv`, all paths are those of this machine.
        """
        needs = needs or {}
        if not self._connection.alive:
            self._connection.close()
            self._connection = Connection(self.host)
        written = {str(path): f"{self._call}/{path.name}" for path in outputs}
        words = _words(argv, env, written | {str(path): name for name, path in needs.items()})
        collected = "collected"
        pulls = self.host.kind != "ssh"
        used = {str(PurePosixPath(*PurePosixPath(name).parts[:2])) for name in needs} - self._used
        script = _CALL.format(
            folder=shlex.quote(self.folder),
            needed=shlex.join(needs),
            touch=f"touch -c {shlex.join(sorted(used))}" if used else "",
            call=self._call,
            command=shlex.join(words),
            written=shlex.join(["stdout", "stderr", *(path.name for path in outputs)]),
            collect=f"> {collected}" if pulls else "",
        )
        answer = self._connection.run(script, timeout=None)
        if answer.status == _ABSENT:
            for name in filter(needs.__contains__, answer.out.decode(errors="replace").splitlines()):
                self._push(needs[name], name)
            answer = self._connection.run(script, timeout=None)
        if answer.status in {_ABSENT, _UNUSABLE}:
            msg = f"host {self.host.name!r}: the folder {self.folder} cannot be used: {answer.text}"
            raise HostError(msg)
        data = self._connection.content(f"{self.folder}/{self._call}/{collected}") if pulls else answer.out
        self._used |= used
        contents = self._contents(data)
        for path in outputs:
            if path.name in contents:
                path.write_bytes(contents[path.name])
        texts = (contents.get(name, b"").decode(errors="replace") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(words, answer.status, *texts)

    @staticmethod
    def pushed_name(file: Path) -> str:
        """Return the name of a file on hosts: its content's digest, and its suffix, by which tools know formats."""
        with file.open("rb") as stream:
            return f"store/{hashlib.file_digest(stream, 'sha256').hexdigest()}{file.suffix}"

    @staticmethod
    def with_paths(argv: Sequence[str], names: Mapping[str, str]) -> list[str]:
        """Return a command with paths of `names`, at the ends of words, replaced by their names there."""
        return [
            next((word.removesuffix(one) + names[one] for one in names if word.endswith(one)), word) for word in argv
        ]

    def by_hand(
        self, argv: Sequence[str], *, env: Sequence[tuple[str, str]] = (), needs: Mapping[str, Path]
    ) -> tuple[str, ...]:
        """Return the command of this machine that repeats a call, with the files that were pushed for it."""
        words = _words(argv, env, {str(path): name for name, path in needs.items()})
        return by_hand(self.host, f"cd {shlex.quote(self.folder)} && {shlex.join(words)}")

    def digest(self, file: str) -> str:
        """Return the SHA-256 of a tool of the host with its own libraries. Raises `HostError` where there is none."""
        answer = self._connection.run(
            f'cd {shlex.quote(self.folder)} && {_DIGEST}; f={shlex.quote(file)}; d="${{f%/*}}"; digest "$f" >/dev/null'
            ' && cat "$f" "$d"/lib*iree*.so* "$d"/../lib/lib*iree*.so* 2>/dev/null | digest -'
        )
        if answer.status:
            msg = f"host {self.host.name!r} has no {file}: {answer.text}"
            raise HostError(msg, hint="`run_with` of the [[host]] names the tool; without it, this machine's is pushed")
        return answer.out.decode(errors="replace").split()[0]

    def _push(self, file: Path, name: str) -> None:
        """Copy a file to the host under a temporary name, and rename it when the host has verified it."""
        if not file.is_file():
            msg = f"{file} is not there any more, to be pushed to host {self.host.name!r}"
            raise HostError(msg)
        digest = self.pushed_name(file).partition("/")[2].removesuffix(file.suffix)
        part, final = f"{self.folder}/store/{uuid.uuid4().hex}.part", f"{self.folder}/{name}"
        said = self._connection.push(file, part)
        quoted, folder = shlex.quote(part), shlex.quote(str(PurePosixPath(final).parent))
        answer = self._connection.run(
            f'{_DIGEST}; found=$(digest {quoted}); [ "${{found%% *}}" = {digest} ] || {{ rm -f {quoted}; '
            f'echo "SHA-256 ${{found%% *}} is there, {digest} was expected"; exit 1; }}\n'
            f"mkdir -p {folder} && chmod 700 {quoted} && mv -f {quoted} {shlex.quote(final)}",
            timeout=None,
        )
        if answer.status:
            msg = f"host {self.host.name!r}: {file.name} ({file.stat().st_size} bytes) was not pushed: "
            shown = shlex.join(by_hand(self.host, f"df -k {shlex.quote(self.folder)}"))
            raise HostError(msg + (said or answer.text), hint=f"`{shown}` shows the space in its folder")

    def _contents(self, data: bytes) -> dict[str, bytes]:
        """Parse the output files of a call's script, by name: first come their sizes, as `wc` writes them."""
        sizes: list[tuple[str, int]] = []
        start = 0
        while start < len(data) and sizes[-1:] != [("total", len(data) - start)]:
            line, newline, _ = data[start : start + 1000].partition(b"\n")
            size, _, name = line.decode(errors="replace").strip().partition(" ")
            if not newline or not size.isdigit():
                break
            sizes.append((name, int(size)))
            start += len(line) + 1
        if sizes[-1:] != [("total", len(data) - start)]:
            msg = f"host {self.host.name!r}: what the call wrote came back incomplete: {len(data)} bytes"
            raise HostError(msg, hint=f"is the folder {self.folder} on a full disk?")
        contents = {}
        for name, length in sizes[:-1]:
            contents[name] = data[start : start + length]
            start += length
        return contents


def _words(argv: Sequence[str], env: Sequence[tuple[str, str]], names: Mapping[str, str]) -> list[str]:
    """Return a command with its environment, and with the names on the host of this machine's files."""
    return [
        *(["env", *(f"{name}={value}" for name, value in env)] if env else ()),
        *RemoteCalls.with_paths(argv, names),
    ]
