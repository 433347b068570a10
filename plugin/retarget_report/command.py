"""The subcommand `report`.

Writes the page: `index.html` from its template, scripts and style as they are, and data as scripts.

    index.html      header, navigation, an empty place for the view; it loads every script of app/
    app/*.js        frame.js, and one script per view
    app/style/, app/uplot/: the style; the chart library, as its package has it
    data/NAME.js    `Retarget.data("NAME", …)`: loaded when a view asks for NAME, since a page opened from a file may
                    load scripts but not fetch

The module of a view lists its data: `data(report)` yields (name, value) pairs, and its docstring says what they are.
Values are what msgspec writes as JSON. A name is a file's: letters, digits, `-`.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from retarget.results import Sessions
from retarget.support import RetargetError, display_path, install_hint, listed, write_atomically

from retarget_report.folder import expect_free
from retarget_report.read import Report, State, read_report
from retarget_report.views import failures, history, matrix


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("results", nargs="+", metavar="DIR", help="folders or files of `pytest --retarget-results`")
    parser.add_argument("-o", dest="site", required=True, metavar="SITE", help="the folder to write the page to")
    parser.add_argument(
        "--plan",
        action="append",
        default=[],
        metavar="FILE",
        help="a plan of `retarget ci plan`: the page shows which of its targets have no result (repeatable)",
    )
    parser.add_argument("--history", default="", metavar="FOLDER|URL", help="a history of `retarget history add`")
    parser.add_argument("--title", default="", help="what the page is called (default: retarget)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page; print where it is."""
    if importlib.util.find_spec("jinja2") is None:
        msg = f"retarget report needs the package jinja2, which is not installed; {install_hint('report')}"
        raise RetargetError(msg)
    gc.disable()  # all that is read is kept until the page is written: looking for garbage doubles the time
    try:
        report = read_report(
            map(Path, arguments.results), map(Path, arguments.plan), title=arguments.title, history=arguments.history
        )
        index = write_site(report, Path(arguments.site))
    finally:
        gc.enable()
    print(index.resolve().as_uri())
    return 0


View = Callable[[Report], Iterable[tuple[str, Any]]]

VIEWS: Mapping[str, View] = {
    "matrix": matrix.data,
    "failures": failures.data,
    "history": history.data,
    "benchmarks": history.benchmark_data,
}
"""The views in the order of the navigation: the name of the script in app/, and what yields its data."""

_OWN = Path(__file__).parent


def write_site(report: Report, folder: Path) -> Path:
    """Write the page into a folder; return its `index.html`.

    An older page in the folder is replaced. Raises `RetargetError` for a folder with other files, and where it cannot
    be written.
    """
    index = folder / "index.html"
    try:
        expect_free(folder, "-o")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "data", ignore_errors=True)
        (folder / "data").mkdir()
        shutil.copytree(_OWN / "app", folder / "app", dirs_exist_ok=True)
        for view in _views(report):
            for name, value in VIEWS[view](report):
                write_atomically(folder / "data" / f"{name}.js", as_script(name, value))
        write_atomically(index, _index(report).encode())
    except OSError as error:
        msg = f"cannot write the page to {display_path(folder)}: {error.strerror or error}"
        raise RetargetError(msg) from error
    return index


def as_script(name: str, value: object) -> bytes:
    """Return data as a script. No text in it can end a script element, nor a line of JavaScript."""
    data = msgspec.json.encode(value)
    for found, escaped in ((b"<", b"\\u003c"), ("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029")):
        data = data.replace(found, escaped)
    return b'Retarget.data("' + name.encode() + b'", ' + data + b");\n"


def _views(report: Report) -> list[str]:
    """Return the views that a page has; that of benchmarks only where there are any."""
    return [view for view in VIEWS if view != "benchmarks" or history.has_benchmarks(report)]


def _scripts(report: Report) -> Iterator[str]:
    yield from ("uplot/uPlot.iife.min.js", "frame.js", "selection.js", "target.js", "results.js", "parts.js")
    yield from (f"{name}.js" for name in _views(report))


def _index(report: Report) -> str:
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters |= {"when": _when, "duration": _duration}
    counts = Counter(target.state for target in report.targets)
    judged = sum(number for state, number in counts.items() if state.sort != "none")
    return environment.from_string((_OWN / "templates" / "index.html.j2").read_text(encoding="utf-8")).render(
        report=report,
        percent=_percent,
        scripts=list(_scripts(report)),
        total=counts.total(),
        judged=judged,
        good=sum(number for state, number in counts.items() if state.sort == "good"),
        missing=counts[State.MISSING],
        lost=[target.id for target in report.targets if target.state is State.UNEXPLAINED],
        listed=listed,
        incomplete=[session for session in report.sessions if not session.is_complete],
        failed=[session for session in Sessions(report.sessions).faulty if session.is_complete],
        written=datetime.now(UTC).timestamp(),
    )


def _percent(part: int, whole: int) -> str:
    """Return a share in percent, rounded down: only all of them are 100 %."""
    return f"{1000 * part // whole / 10:g} %"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {left:02} s" if minutes else f"{left} s"
