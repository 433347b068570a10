"""A tool's calls on a host: its input files are stored by content, its output files are fetched.

    FOLDER/store/DIGEST.vmfb        pushed files: written to a temporary name, verified, renamed
    FOLDER/store/DIGEST.tool/…      a tool with the libraries beside it
    FOLDER/calls/ID/                output files of one connection's current call

Files that were not used for a week are removed; above 4 GiB also the least recently used, unless used in the last hour.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from retarget.model import Host
from retarget.worker.hosts.connection import Connection, HostError, by_hand, folder_of

_KEPT_DAYS = 7
_KEPT_KIB = 4 * 1024 * 1024

_ABSENT, _UNUSABLE = 97, 98
"""Exit statuses of the script around a call: files are missing, the folder cannot be used."""

_DIGEST = 'digest() { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; }'

_SET_UP = f"""\
mkdir -p {{folder}}/store {{folder}}/calls && cd {{folder}} || exit {_UNUSABLE}
pwd; uname -s; uname -m; uname -o 2>/dev/null || echo
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
    """A host's own description: `uname -s` (`Android` there), `uname -m`."""

    system: str
    machine: str


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
        self.platform = Platform(system="Android" if lines[3:] == ["Android"] else lines[1], machine=lines[2])

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
        """Return the SHA-256 of a file of the host, by its path there. Raises `HostError` where there is none."""
        quoted = shlex.quote(file)
        answer = self._connection.run(f"cd {shlex.quote(self.folder)} && {_DIGEST}; digest {quoted}")
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
