"""Calls of a tool on a host: its files are there once, verified; what it writes comes back; nothing is left running."""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec.structs
import pytest
from retarget.worker.hosts import HostError, RemoteCalls
from ssh_server import SshServer, local_host
from targets_of_doubles import wait_until

DAY = 24 * 3600
LIMITED = "trap '' XFSZ; ulimit -f 8; "


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[RemoteCalls]:
    push = ("sh", "-c", f'echo {{local}} >> {tmp_path}/pushed; cp "$0" "$1"', "{local}", "{remote}")
    with closing(RemoteCalls(local_host(tmp_path, push=push))) as found:
        yield found


def files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "on host"
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != "swept"
    )


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_tool_gets_its_files_and_environment_and_its_own_come_back(calls: RemoteCalls, tmp_path: Path) -> None:
    given, results = written(tmp_path / "a 'file'.bin", "abc\0d"), [tmp_path / "o1", tmp_path / "o2"]
    done = calls.run(
        ["sh", "-c", 'cat "${0#--in=}" > "${1#--out=@}"; echo "$X"; echo no >&2; exit 7', f"--in={given}",
         f"--out=@{results[0]}", f"--out=@{results[1]}"],
        env=[("X", "y z")], needs={RemoteCalls.pushed_name(given): given}, outputs=results,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (7, "y z\n", "no\n")
    assert (results[0].read_text(), results[1].exists()) == ("abc\0d", False)


def test_what_watches_a_call_reads_nothing_of_the_next_one(tmp_path: Path) -> None:
    slow_kill = 'kill() { (sleep 0.2; command kill "$@") & }; '
    with closing(RemoteCalls(local_host(tmp_path, run=("sh", "-c", slow_kill + "{command}")))) as calls:
        assert [calls.run(["echo", str(number)]).stdout for number in range(3)] == ["0\n", "1\n", "2\n"]
    assert [*(tmp_path / "on host" / "calls").iterdir()] == []


def test_what_arrives_otherwise_than_it_was_is_refused_and_not_kept(tmp_path: Path) -> None:
    given = written(tmp_path / "a.bin", "content")
    short = local_host(tmp_path, push=("sh", "-c", 'head -c 3 "$0" > "$1"', "{local}", "{remote}"))
    with closing(RemoteCalls(short)) as calls, pytest.raises(HostError) as error:
        calls.run(["cat", str(given)], needs={RemoteCalls.pushed_name(given): given})
    wanted = RemoteCalls.pushed_name(given).removeprefix("store/").removesuffix(".bin")
    assert str(error.value).startswith("host 'here': a.bin (7 bytes) was not pushed: SHA-256 ")
    assert str(error.value).endswith(f" is there, {wanted} was expected")
    assert files(tmp_path) == []


def test_a_full_disk_is_reported_with_what_the_copy_said_and_a_command_that_shows_the_space(tmp_path: Path) -> None:
    large = written(tmp_path / "large.bin", "x" * 100_000)
    full = local_host(tmp_path, push=("sh", "-c", f'{LIMITED}cp "$0" "$1"', "{local}", "{remote}"))
    with closing(RemoteCalls(full)) as calls, pytest.raises(HostError) as error:
        calls.run(["cat", str(large)], needs={RemoteCalls.pushed_name(large): large})
    assert str(error.value).startswith("host 'here': large.bin (100000 bytes) was not pushed: cp: error ")
    assert str(error.value).endswith(": File too large")
    assert error.value.hint == (f"`sh -c {connection_quote(tmp_path)}` shows the space in its folder")
    assert files(tmp_path) == []


def connection_quote(tmp_path: Path) -> str:
    return shlex.quote(f"df -k {shlex.quote(str(tmp_path / 'on host'))}")


def test_output_that_does_not_fit_on_the_host_is_no_output(tmp_path: Path) -> None:
    limited = local_host(tmp_path, run=("sh", "-c", f'{LIMITED}exec sh -c "$0"', "{command}"))
    with closing(RemoteCalls(limited)) as calls, pytest.raises(HostError) as error:
        calls.run(["sh", "-c", "head -c 100000 /dev/zero; exit 0"])
    assert "came back incomplete" in str(error.value)


def test_a_tool_and_what_it_started_are_killed_when_the_connection_ends(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    outer = local_host(tmp_path, run=("sh", "-c", 'cat | setsid sh -c "$0"', "{command}"))
    with closing(RemoteCalls(outer)) as calls:
        ended = []

        def run() -> None:
            with pytest.raises(HostError):
                calls.run(["sh", "-c", f"sleep 1000 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait"])
            ended.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        assert wait_until(pids.is_file)
        os.kill(calls._connection._process.pid, 9)
        stdin = calls._connection._process.stdin
        assert stdin is not None
        stdin.close()
        assert wait_until(lambda: not any(_runs(int(pid)) for pid in pids.read_text().split()))
        thread.join(20)
    assert ended == [True]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_what_was_not_used_for_a_week_is_swept_once_a_day(tmp_path: Path) -> None:
    host, store = local_host(tmp_path), tmp_path / "on host" / "store"
    with closing(RemoteCalls(host)):
        pass
    old, new = written(store / "old.bin", "a"), written(store / "new.bin", "b")
    tool = store / "x.tool"
    tool.mkdir()
    written(tool / "tool", "c")
    abandoned = store.parent / "calls" / "killed"
    abandoned.mkdir()
    for path in (old, tool, abandoned):
        os.utime(path, (time.time() - 8 * DAY,) * 2)
    with closing(RemoteCalls(host)):
        assert (old.exists(), tool.exists()) == (True, True)
    os.utime(store.parent / "swept", (time.time() - 3 * DAY,) * 2)
    with closing(RemoteCalls(host)):
        assert (old.exists(), tool.exists(), new.exists(), abandoned.exists()) == (False, False, True, False)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    written(tmp_path / "file", "")
    with pytest.raises(HostError) as error:
        RemoteCalls(msgspec.structs.replace(local_host(tmp_path), folder=f"{tmp_path}/file/folder"))
    assert str(error.value).startswith(f"host 'here': the folder {tmp_path}/file/folder cannot be used: mkdir: ")
    assert error.value.hint == "`folder` of the [[host]] names another"


def test_the_digest_of_a_tool_of_the_host_and_the_error_where_there_is_none(calls: RemoteCalls, tmp_path: Path) -> None:
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    given = written(tmp_path / "bin" / "tool", "content")
    assert calls.digest(str(given)) == RemoteCalls.pushed_name(given).removeprefix("store/")
    seen = []
    for number, folder in enumerate(("bin", "lib", "lib")):
        written(tmp_path / folder / "libiree_runtime.so.1", f"{number}")
        seen.append(calls.digest(str(given)))
    assert len({*seen}) == len(seen)
    with pytest.raises(HostError) as error:
        calls.digest("/no/tool")
    assert str(error.value).startswith("host 'here' has no /no/tool: ")


def test_a_call_is_repeated_by_hand_with_what_was_pushed(calls: RemoteCalls, tmp_path: Path) -> None:
    given = written(tmp_path / "in.bin", "content")
    words = calls.by_hand(["cat", f"{given}"], env=[("A", "b")], needs={RemoteCalls.pushed_name(given): given})
    assert words == ("sh", "-c", f"cd '{tmp_path}/on host' && env A=b cat {RemoteCalls.pushed_name(given)}")


@pytest.mark.needs_sshd
def test_over_ssh_the_same_comes_back(ssh_server: SshServer, tmp_path: Path) -> None:
    given, result = written(tmp_path / "in.bin", "x" * 300_000), tmp_path / "out.bin"
    with closing(RemoteCalls(ssh_server.host(tmp_path))) as calls:
        words = ["sh", "-c", 'cat "$0" > "${1#@}"; exit 255', str(given), f"@{result}"]
        done = calls.run(words, needs={RemoteCalls.pushed_name(given): given}, outputs=[result])
        assert (done.returncode, result.read_bytes()) == (255, given.read_bytes())
        assert calls.platform.system == os.uname().sysname
