"""Write the table of packages in docs/architecture.md from their docstrings: `python docs/packages.py`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["PAGE", "listed", "main", "packages", "table"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE_ROOTS = ("matrix", "plugin", "kernels")
SECTION = re.compile(r"(<!-- packages: [^\n]*-->\n).*?(<!-- end of packages -->)", re.DOTALL)


def packages() -> dict[str, str]:
    """Return the first sentence of each package's docstring by the package's folder."""
    found = {}
    for source_root in SOURCE_ROOTS:
        for init in sorted((ROOT / source_root).rglob("__init__.py"), key=lambda path: path.parent.parts):
            docstring = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
            summary = " ".join(docstring.partition("\n\n")[0].split())
            found[init.parent.relative_to(ROOT).as_posix()] = summary
    return found


def listed() -> dict[str, str]:
    """Return those of the packages that the page lists: each that is installed, and those right below the core."""
    return {name: text for name, text in packages().items() if name.count("/") <= 1 + name.startswith("matrix/")}


def table() -> str:
    """Return the table of packages as Markdown."""
    rows = [f"| `{folder}` | {summary} |" for folder, summary in listed().items()]
    return "\n".join(["| package | purpose |", "|---|---|", *rows])


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(SECTION.sub(lambda found: f"{found[1]}\n{table()}\n\n{found[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
