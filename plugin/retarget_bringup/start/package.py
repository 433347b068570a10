"""The package of a new compiler and a new driver, from templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

__all__ = ["package_files", "package_folder"]

_TEMPLATES = Path(__file__).parent / "templates" / "package"


def package_folder(name: str, root: Path) -> Path:
    """Return the folder of the package."""
    return root / f"retarget-{name.replace('+', '-')}"


def package_files(name: str, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the package, with their texts."""
    module = f"retarget_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    classes = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))
    words = {
        "name": name,
        "package": package_folder(name, root).name,
        "module": module,
        "class": f"The{classes}" if classes[:1].isdigit() else classes,
    }
    for path in sorted(_TEMPLATES.iterdir()):
        at = package_folder(name, root) / ("" if path.suffix == ".toml" else module)
        yield at / path.name.removesuffix(".tmpl"), Template(path.read_text(encoding="utf-8")).substitute(words)
