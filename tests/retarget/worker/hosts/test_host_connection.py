"""The shell of a host: what a command returns, and how that differs from a connection that fails."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from retarget.model import Host
from retarget.worker import hosts
from retarget.worker.hosts import Connection, HostError, by_hand
from ssh_server import ORIGIN, SshServer, local_host
from targets_of_doubles import wait_until

SHELLS = [shell for shell in ("dash", "bash", "bash --posix", "busybox sh", "mksh") if shutil.which(shell.split()[0])]


@pytest.fixture(params=SHELLS)
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    with closing(Connection(local_host(tmp_path, shell=request.param))) as found:
        yield found


def test_a_command_returns_its_status_and_what_it_wrote_to_both_streams(here: Connection) -> None:
    answers = [here.run("printf 'a\\nb'; echo c >&2; exit 255"), here.run("echo again; false"), here.run("true")]
    assert [(one.status, one.out) for one in answers] == [(255, b"a\nbc\n"), (1, b"again\n"), (0, b"")]


def test_any_text_reaches_the_host_as_it_is(here: Connection) -> None:
    text = 'it\'s "quoted" $HOME `x` \\n\nsecond line\n\n  * 漢'
    assert here.run(f"printf %s {hosts.shlex.quote(text)}").out.decode() == text


def test_commands_have_no_input_and_bytes_come_back_as_they_are(here: Connection) -> None:
    assert here.run("cat; printf '\\000\\377\\r\\n'").out == b"\0\xff\r\n"


def test_a_shell_that_dies_is_a_connection_that_breaks(here: Connection) -> None:
    with pytest.raises(HostError) as error:
        here.run("kill -9 $$")
    assert str(error.value) == "the connection to host 'here' broke: signal 9"
    with pytest.raises(HostError, match="the connection to host 'here' broke"):
        here.run("true")


def test_a_host_that_refuses_is_not_reached_with_what_the_client_says(tmp_path: Path) -> None:
    refusing = local_host(
        tmp_path, run=("sh", "-c", "echo first >&2; echo Permission denied >&2; exit 255", "{command}")
    )
    with pytest.raises(HostError) as error:
        Connection(refusing)
    assert str(error.value) == "host 'here' is not reached: first; Permission denied (exit status 255)"
    assert error.value.hint.endswith("` must work without a prompt")


def test_a_client_that_is_not_installed_is_named_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(HostError) as error:
        Connection(local_host(tmp_path, run=("no-such-client", "{command}")))
    assert str(error.value) == "host 'here' is not reached: no-such-client does not start: No such file or directory"
    assert list(tmp_path.glob("retarget-ssh-*")) == []


def test_a_command_that_does_not_end_is_given_up(here: Connection) -> None:
    with pytest.raises(HostError, match=r"^the connection to host 'here' broke: no answer in 0\.1 s$"):
        here.run("sleep 100 3<&-", timeout=0.1)


def test_the_hosts_shell_does_what_is_to_be_done_at_the_end_when_the_client_is_killed(tmp_path: Path) -> None:
    done = tmp_path / "done"
    ended = Connection(local_host(tmp_path), at_end=f"echo x > {done}")
    ended.close()
    assert wait_until(done.is_file)
    assert not ended._scratch.path.exists()


def test_adb_runs_pushes_and_pulls_with_the_serial_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No device is here: a script takes the command line of adb."""
    adb = tmp_path / "bin" / "adb"
    adb.parent.mkdir()
    adb.write_text(
        f'#!/bin/sh\necho "$*" | head -1 | cut -c1-40 >> {tmp_path}/log\n'
        '[ "$1 $2" = "-s R5" ] || { echo "error: device \'$2\' not found" >&2; exit 1; }\n'
        'case $3 in shell) exec sh -c "$4";; push|pull) exec cp "$4" "$5";; esac\nexit 64\n'
    )
    adb.chmod(adb.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{adb.parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "file").write_text("content")
    with closing(Connection(Host(name="phone", kind="adb", address="R5", origin=ORIGIN))) as phone:
        assert phone.push(tmp_path / "file", f"{tmp_path}/there") == ""
        assert phone.run(f"cat {tmp_path}/there").out == b"content"
        assert phone.content(f"{tmp_path}/there") == b"content"
        with pytest.raises(HostError, match="host 'phone': /no/file was not pulled: cp: cannot stat '/no/file'"):
            phone.content("/no/file")
    assert [" ".join(line.split()[:3]) for line in (tmp_path / "log").read_text().splitlines()] == [
        "-s R5 shell", "-s R5 push", "-s R5 pull", "-s R5 pull",
    ]  # fmt: skip
    with pytest.raises(HostError) as error:
        Connection(Host(name="phone", kind="adb", address="R6", origin=ORIGIN))
    assert str(error.value) == "host 'phone' (R6) is not reached: error: device 'R6' not found (exit status 1)"


@pytest.mark.needs_sshd
def test_ssh_runs_commands_pushes_files_and_says_why_it_does_not(ssh_server: SshServer, tmp_path: Path) -> None:
    host = ssh_server.host(tmp_path)
    (tmp_path / "file").write_bytes(bytes(range(256)) * 1000)
    with closing(Connection(host)) as board:
        assert board.run("exit 255").status == 255
        assert board.push(tmp_path / "file", f"{tmp_path}/there") == ""
        assert (tmp_path / "there").read_bytes() == (tmp_path / "file").read_bytes()
        assert "/no/such/folder/file" in board.push(tmp_path / "file", "/no/such/folder/file")
    assert by_hand(host, "ls x") == ("ssh", *ssh_server.options, "--", "board", "ls x")
    refused = Host(name="locked", kind="ssh", address="locked", origin=ORIGIN,
                   options=ssh_server.client("locked", key="other_key"))  # fmt: skip
    with pytest.raises(HostError, match=r"^host 'locked' \(locked\) is not reached: .*Permission denied \(publickey\)"):
        Connection(refused)
    down = Host(name="down", kind="ssh", address="down", options=ssh_server.client("down", port=1), origin=ORIGIN)
    with pytest.raises(HostError, match=r"^host 'down' \(down\) is not reached: .*Connection refused") as error:
        Connection(down)
    assert error.value.hint.endswith("` must work without a prompt: try it with -o BatchMode=yes")


@pytest.mark.needs_sshd
def test_a_server_that_ends_a_connection_breaks_the_command_in_it(ssh_server: SshServer, tmp_path: Path) -> None:
    with closing(Connection(ssh_server.host(tmp_path))) as board:
        parent = board.run("ps -o ppid= -p $$").out.decode().strip()
        timer = threading.Timer(0.1, os.kill, (int(parent), 9))
        timer.start()
        with pytest.raises(HostError, match=r"^the connection to host 'board' broke: .*\(exit status 255\)$"):
            board.run("sleep 100 3<&-", timeout=60)


@pytest.mark.needs_sshd
def test_a_server_that_is_stopped_is_given_up(
    ssh_server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "ANSWER_SECONDS", 0.5)
    server = ssh_server._process.pid
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(HostError) as error:
            Connection(ssh_server.host(tmp_path))
    finally:
        os.kill(server, signal.SIGCONT)
    assert str(error.value).endswith("is not reached: no answer in 0.5 s")
