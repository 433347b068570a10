"""A `.vmfb` as text, printed by the runtime's own tool `iree-dump-module`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from retarget.support.errors import RetargetError
from retarget.support.text import decoded

from retarget_iree.builds import locate, runtime_hint
from retarget_iree.modules.measure import disassembled, memory_line
from retarget_iree.noise import clean_status

_TOOL = "iree._runtime.scripts.iree_dump_module"
_SECONDS = 300.0
_DISASSEMBLED = 16 << 20  # bytes of a module; the tool prints its constants as text
_HEADING = "\nDevice memory that functions allocate, beside their arguments and .rodata:"
_TOO_LARGE = f"{_HEADING}\n  not read from modules over {_DISASSEMBLED >> 20} MiB\n"
_SOURCE = re.compile(r"^\S+\.c:\d+: ")


def dump_module(artifact: bytes) -> str:
    """Return what the tool prints of a module; the text itself where the compile stopped at a phase (`--compile-to=`).

    Raises `RetargetError` for bytes that are no module, and without the runtime.
    """
    if artifact and (text := decoded(artifact)) is not None:
        return text
    if locate("iree.runtime") is None:
        msg = f"the IREE runtime is not installed, whose tool iree-dump-module prints modules; {runtime_hint()}"
        raise RetargetError(msg)
    with tempfile.TemporaryDirectory(prefix="retarget-dump-") as folder:
        path = Path(folder) / "module.vmfb"
        path.write_bytes(artifact)
        done = _run(path)
        memory = ""
        if not done.returncode:
            is_small = len(artifact) <= _DISASSEMBLED
            memory = _memory(_run(path, "--output=disassembly").stdout) if is_small else _TOO_LARGE
    if done.returncode:
        detail = _SOURCE.sub("", clean_status(done.stderr).strip()) or f"it ended with exit status {done.returncode}"
        msg = f"not a module that iree-dump-module can print: {detail}"
        raise RetargetError(msg)
    return f"{done.stdout}{memory}"


def _run(path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, "-m", _TOOL, *flags, path.name],
            cwd=path.parent,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        msg = f"iree-dump-module did not end within {_SECONDS:.0f} s"
        raise RetargetError(msg) from error


def _memory(text: str) -> str:
    found = [line for name, allocations in disassembled(text.splitlines()) if (line := memory_line(name, allocations))]
    return "".join(f"{line}\n" for line in (_HEADING, *(f"  {line}" for line in found or ["none is allocated"])))
