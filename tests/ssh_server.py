"""A real OpenSSH server on the loopback, with keys of its own, for tests of hosts; and hosts that are this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from retarget.model import Host, Origin

__all__ = ["ORIGIN", "SSHD", "SshServer", "local_host"]

SSHD = shutil.which("sshd") or next((path for path in ("/usr/sbin/sshd",) if Path(path).exists()), "")
ORIGIN = Origin(file=Path("matrix.toml"), key_path="host[0]")
_SECONDS = 20


def local_host(folder: Path, *, shell: str = "sh", **fields: object) -> Host:
    """Return a host of the kind `command` that is this machine, with its files below `folder`."""
    values: dict[str, object] = {
        "push": ("cp", "{local}", "{remote}"),
        "pull": ("cp", "{remote}", "{local}"),
        "run": (*shell.split(), "-c", "{command}"),
        "folder": str(folder / "on host"),
        "lease_folder": str(folder / "host leases"),
    }
    return Host(name="here", kind="command", origin=ORIGIN, **(values | fields))  # type: ignore[arg-type]


class SshServer:
    """`sshd` with one user, this one. `options` are those of the client that reach it, under the name `board`."""

    def __init__(self, folder: Path) -> None:
        """Start it, with its files in `folder`."""
        self.folder = folder
        folder.mkdir()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where the server wants it
        for name in ("host_key", "key", "other_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        shutil.copy(folder / "key.pub", folder / "authorized")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        lines = [
            f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {folder}/host_key", "PidFile none", "UsePAM no",
            f"AuthorizedKeysFile {folder}/authorized", "StrictModes no", "PasswordAuthentication no",
            "KbdInteractiveAuthentication no", "AuthenticationMethods publickey", "MaxStartups 100",
        ]  # fmt: skip
        (folder / "sshd_config").write_text("\n".join(lines) + "\n")
        self.options = self.client("board")
        log = (folder / "log").open("wb")
        with log:
            argv = [SSHD, "-D", "-e", "-f", folder / "sshd_config"]
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                msg = f"sshd does not start: {(folder / 'log').read_text()}"
                raise RuntimeError(msg)
            time.sleep(0.01)

    def client(self, name: str, *, key: str = "key", port: int = 0) -> tuple[str, ...]:
        """Write the client's configuration of a host and return the options that select it."""
        file = self.folder / f"config-{name}"
        lines = [
            f"Host {name}", "HostName 127.0.0.1", f"Port {port or self.port}", f"IdentityFile {self.folder}/{key}",
            "IdentitiesOnly yes", f"UserKnownHostsFile {self.folder}/known", "StrictHostKeyChecking accept-new",
        ]  # fmt: skip
        file.write_text("\n    ".join(lines) + "\n")
        return ("-F", str(file))

    def host(self, folder: Path, **fields: object) -> Host:
        """Return the host, with its files below `folder`."""
        values = {"folder": str(folder / "on host"), "lease_folder": str(folder / "host leases")}
        values |= fields  # type: ignore[arg-type]
        return Host(name="board", kind="ssh", address="board", options=self.options, origin=ORIGIN, **values)  # type: ignore[arg-type]

    def close(self) -> None:
        """End it; connections end with their clients."""
        self._process.terminate()
        self._process.wait(_SECONDS)
