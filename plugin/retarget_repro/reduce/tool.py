"""What a compiler has to make a module smaller: its own tool, which asks this process what still fails, or variants."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from retarget.extension import ShrinksModules
from retarget.extension.registry import extensions_environment
from retarget.support.errors import RetargetError
from retarget.support.text import first_line

__all__ = ["SCRIPT", "Variant", "reduce_by_tool", "smaller_variants"]

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


_SECONDS = 120
"""How long a compiler may take to write variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A module's file, and what was done to make it smaller."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variants:
    """Some variants of a module, and what the module has: `3 functions, 40 ops`."""

    has: str
    found: Sequence[Variant]


def smaller_variants(
    compiler: ShrinksModules,
    source: Path,
    folder: Path,
    *,
    refused: Iterable[str] = (),
    keep_types: bool,
    env: Mapping[str, str],
) -> _Variants:
    """Have a compiler write variants of a module to a folder, but those whose names are `refused`.

    Raises `RetargetError` where it fails, as for a module that does not parse.
    """
    command = [*compiler.shrink_command(source, folder, keep_types)]
    try:
        done = subprocess.run(
            command,
            input="\n".join(refused),
            env={**os.environ, **extensions_environment(), **env},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"{command[0]} writes no smaller variants: {error}"
        raise RetargetError(msg) from error
    has, *lines = done.stdout.splitlines() or [""]
    if done.returncode or not has:
        msg = f"no smaller variants can be made: {first_line(done.stderr, f'exit status {done.returncode}')}"
        raise RetargetError(msg)
    written = [line.partition("\t") for line in lines]
    return _Variants(has=has, found=[Variant(name=name, path=Path(path)) for path, _, name in written if name])
