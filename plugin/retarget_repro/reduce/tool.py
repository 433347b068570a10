"""A compiler's own tool for reducing modules, which asks this process what still fails."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from retarget.extension.registry import extensions_environment

__all__ = ["SCRIPT", "reduce_by_tool"]

SCRIPT = "fails-in-the-same-way"
"""The executable that the tool runs, in the folder of the reduction: exit status 0 for a module that still fails."""

_ASK = """\
import socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect("asked")
asked.sendall(sys.argv[1].encode())
sys.exit(asked.recv(1) != b"y")
"""


def reduce_by_tool(
    command: Sequence[str],
    folder: Path,
    *,
    fails: Callable[[Path], bool],
    is_over: Callable[[], bool],
    env: Mapping[str, str],
) -> bool:
    """Run a tool in `folder`, where it finds `SCRIPT`, until it ends or it is over. Return whether it succeeded."""
    asking = shlex.join((sys.executable, "-I", "-S", "-c", _ASK))
    (folder / SCRIPT).write_text(f'#!/bin/sh\ncd {shlex.quote(str(folder))} || exit 1\nexec {asking} "$1"\n')
    (folder / SCRIPT).chmod(0o755)
    with socket.socket(socket.AF_UNIX) as server, (folder / "log").open("wb") as log:
        with chdir(folder):  # a path of a socket may be no longer than a hundred characters
            server.bind("asked")
        server.listen()
        server.settimeout(0.2)
        tool = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **extensions_environment(), **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            while tool.poll() is None and not is_over():
                try:
                    asked, _ = server.accept()
                except TimeoutError:
                    continue
                with asked:
                    asked.settimeout(None)
                    asked.sendall(b"y" if fails(Path(asked.recv(1 << 16).decode())) else b"n")
        finally:
            if tool.poll() is None:
                tool.kill()
            tool.wait()
    return tool.returncode == 0
