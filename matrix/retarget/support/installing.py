"""How a missing extra of this project is installed, as a command that works where it is shown."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
from pathlib import Path

_DISTRIBUTION = "retarget"
_EXTRA = re.compile(r"(?:\s+and\s+)?extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")


def install_hint(extra: str, what: str = "it") -> str:
    """Return how to install an extra: "install it with `pip install -e '.[onnx]'`" where this runs from a checkout.

    Elsewhere the command names the packages of the extra, which is right wherever this project was installed from.
    """
    checkout = _checkout()
    if checkout is not None:
        folder = "." if checkout == Path.cwd() else str(checkout)
        return f"install {what} with `pip install -e {shlex.quote(f'{folder}[{extra}]')}`"
    packages = " ".join(map(shlex.quote, _packages(extra)))
    return f"install {what} with `pip install {packages}` (the extra [{extra}] of {_DISTRIBUTION})"


def _checkout() -> Path | None:
    """Return the folder of the checkout that this file lies in; None where it was installed elsewhere."""
    folder = Path(__file__).resolve().parents[3]
    return folder if (folder / "pyproject.toml").is_file() and (folder / "matrix").is_dir() else None


def _packages(extra: str) -> list[str]:
    """Return what an extra requires, as pip takes it: `onnx>=1.16`."""
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    packages = []
    for line in required:
        found = _EXTRA.search(line)
        if found is not None and found["extra"] == extra:
            name, _, marker = line.replace(found[0], "").partition(";")
            packages.append(f"{name.strip()}; {marker.strip()}" if marker.strip() else name.strip())
    return packages or [f"{_DISTRIBUTION}[{extra}]"]
