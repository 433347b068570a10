"""Draw a session's targets as README's picture: `python docs/matrix_svg.py JUNIT.xml -o docs/matrix.svg`.

A row is a compiler config, or a runtime config below it; a column is a module; a mark is one target in the colour of
its outcome. `make picture` runs the shipped suites and writes the picture from their junit file.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

__all__ = ["Mark", "draw", "main", "read"]

OUTCOMES = {
    "passed": ("passed", "#3fb950"),
    "xfail": ("known to fail, with a reason", "#e3b341"),
    "skip": ("skipped: no such device here", "#c4ccd4"),
    "fail": ("failed", "#da3633"),
}
CAPTION = (
    "column: a module, by suite folder. bold row: a compiler config compiles it. row below: a device runs the artifact"
)
COLUMN, ROW, GAP = 4.6, 15, 7
LEFT, TOP, RIGHT, MARGIN = 150, 126, 44, 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One target: its folder and module, its configs, its outcome. A compile target has no runtime."""

    folder: str
    module: str
    compiler: str
    runtime: str
    outcome: str


def read(junit: Path) -> list[Mark]:
    """Return the targets of a junit file, in its order."""
    found = []
    compilers: set[str] = set()
    for case in ET.parse(junit).getroot().iter("testcase"):  # noqa: S314  (written by our own session)
        properties = {item.get("name", ""): item.get("value", "") for item in case.iter("property")}
        folder = case.get("classname", "").partition(".suite.toml")[0].rpartition(".")[2]
        if compiler := properties.get("retarget.compiler"):
            compilers.add(compiler)
            names = (properties["retarget.module"], compiler, properties.get("retarget.runtime", ""))
        else:
            names = _names(case.get("name", ""), compilers)
        module, compiler, runtime = names
        found.append(Mark(folder=folder, module=module, compiler=compiler, runtime=runtime, outcome=_outcome(case)))
    return found


def _names(target: str, compilers: set[str]) -> tuple[str, str, str]:
    """Split a target's name. Names of configs hold no `_`; a target that was skipped has no properties."""
    rest, _, last = target.rpartition("_")
    module, _, compiler = rest.rpartition("_")
    return (module, compiler, last) if compiler in compilers else (rest, last, "")


def _outcome(case: ET.Element) -> str:
    skipped = case.find("skipped")
    if skipped is not None:
        return "xfail" if "xfail" in skipped.get("type", "") else "skip"
    return "fail" if case.find("failure") is not None or case.find("error") is not None else "passed"


def draw(marks: Sequence[Mark], *, title: str) -> str:
    """Return the picture as SVG."""
    columns, x = {}, float(LEFT)
    labels = []
    for folder, modules in _grouped((mark.folder, mark.module) for mark in marks).items():
        labels.append((x + len(modules) * COLUMN / 2, folder))
        for module in modules:
            columns[folder, module] = x
            x += COLUMN
        x += GAP
    rows, y = {}, float(TOP)
    for compiler, runtimes in _grouped((mark.compiler, mark.runtime) for mark in marks).items():
        for runtime in ("", *(name for name in runtimes if name)):
            rows[compiler, runtime] = y
            y += ROW
        y += GAP if any(runtimes) else 2
    width, height = x - GAP + RIGHT + MARGIN, y + 40
    counts = Counter(mark.outcome for mark in marks)
    per_row = Counter((mark.compiler, mark.runtime) for mark in marks)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        'font-family="ui-sans-serif, system-ui, Helvetica, Arial, sans-serif" font-size="11" fill="#1f2328">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>',
        f'<text x="{MARGIN}" y="28" font-size="14" font-weight="600">{escape(title)}</text>',
        f'<text x="{MARGIN}" y="46" fill="#59636e">{escape(CAPTION)}</text>',
    ]
    lines += [
        f'<text transform="translate({x:.1f} {TOP - 8}) rotate(-45)" fill="#59636e">{escape(name)}</text>'
        for x, name in labels
    ]
    for (compiler, runtime), y in rows.items():
        name = f'<tspan dx="14" fill="#59636e">{escape(runtime)}</tspan>' if runtime else escape(compiler)
        weight = "400" if runtime else "600"
        lines.append(f'<text x="{MARGIN}" y="{y + 10:.1f}" font-weight="{weight}">{name}</text>')
        lines.append(
            f'<text x="{width - MARGIN:.1f}" y="{y + 10:.1f}" text-anchor="end" fill="#59636e">'
            f"{per_row[compiler, runtime]}</text>"
        )
    for outcome, (_, colour) in OUTCOMES.items():
        path = "".join(
            f"M{columns[mark.folder, mark.module]:.1f} {rows[mark.compiler, mark.runtime]:.1f}v11"
            for mark in marks
            if mark.outcome == outcome
        )
        if path:
            lines.append(f'<path transform="translate(1.8)" d="{path}" stroke="{colour}" stroke-width="3.6"/>')
    x = float(MARGIN)
    for outcome, (words, colour) in OUTCOMES.items():
        if counts[outcome]:
            text = f"{counts[outcome]} {words}"
            lines.append(f'<rect x="{x:.1f}" y="{height - 29:.1f}" width="9" height="11" fill="{colour}"/>')
            lines.append(f'<text x="{x + 15:.1f}" y="{height - 19:.1f}">{escape(text)}</text>')
            x += 40 + 5.7 * len(text)
    return "\n".join([*lines, "</svg>", ""])


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Group pairs by their first part, in the order in which they come, each once."""
    groups: dict[str, list[str]] = {}
    for first, second in dict.fromkeys(pairs):
        groups.setdefault(first, []).append(second)
    return groups


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the targets of a junit file as SVG.")
    parser.add_argument("junit", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    marks = read(options.junit)
    modules = len({(mark.folder, mark.module) for mark in marks})
    title = f"{len(marks)} test targets from {modules} modules"
    options.output.write_text(draw(marks, title=title), encoding="utf-8")


if __name__ == "__main__":
    main()
