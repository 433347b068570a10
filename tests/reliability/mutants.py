"""Changes the OpenCL package at random places, one at a time, and says which changes no test notices.

    python tests/reliability/mutants.py --each 12 --seed 1
    python tests/reliability/mutants.py --each 40 clc/types.py run/program.py

A change is another operator, constant or text, a turned condition, or a statement that is left out. A process that has
what the tests import, save the package, is forked for each: the fork compiles the changed module in the place of the
one on disk and runs the tests that pass over the changed line. Subprocesses of tests see no change. A survivor is
printed as a diff. One whose behaviour cannot differ goes into `equivalent_mutants.txt` with the reason, lines of `#`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import importlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "kernels/retarget_opencl"
TESTS = "tests/retarget_opencl"
GROUPS = {
    f"{TESTS}/clc/ops {TESTS}/clc/test_clc_types.py": ("clc/ops/*.py", "clc/literals.py", "clc/types.py"),
    f"{TESTS}/clc/passes": ("clc/passes/*.py",),
    f"{TESTS}/hostprog": ("hostprog/*rules.py",),
    f"{TESTS}/run/interpreter": ("run/interpreter/*.py",),
    f"{TESTS}/artifact": ("artifact/program.py",),
    f"{TESTS}/run/test_programs.py {TESTS}/run/test_timed_calls.py": ("run/program.py",),
}
"""Which tests are to notice changes of which modules."""

EQUIVALENT = HERE / "equivalent_mutants.txt"

# ---------------------------------------------------------------- changes

_SWAPS: dict[type[ast.AST], type[ast.AST]] = dict(
    [
        *((ast.Eq, ast.NotEq), (ast.NotEq, ast.Eq), (ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE)),
        *((ast.GtE, ast.Gt), (ast.In, ast.NotIn), (ast.NotIn, ast.In), (ast.Is, ast.IsNot), (ast.IsNot, ast.Is)),
        *((ast.And, ast.Or), (ast.Or, ast.And), (ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.FloorDiv)),
        *((ast.FloorDiv, ast.Mult), (ast.Mod, ast.Mult), (ast.LShift, ast.RShift), (ast.RShift, ast.LShift)),
        *((ast.BitAnd, ast.BitOr), (ast.BitOr, ast.BitAnd), (ast.BitXor, ast.BitAnd), (ast.USub, ast.UAdd)),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The whole text of a changed module. `first` and `last` are the lines of the original that changed."""

    path: Path
    text: str
    first: int
    last: int

    @property
    def diff(self) -> str:
        """The changed lines, without their places."""
        lines = difflib.unified_diff(self.path.read_text().splitlines(), self.text.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def mutants(path: Path) -> list[Mutant]:
    """Return all changes of a module, save of annotations, decorators, assertions, imports and what is for people."""
    source = path.read_text()
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data, found = source.encode(), {}
    for node, changed in _changes(ast.parse(source), None):
        begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        text = (data[:begin] + changed.encode() + data[end:]).decode()
        with suppress(SyntaxError):
            if ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)):
                found[text] = Mutant(path=path, text=text, first=node.lineno, last=node.end_lineno)  # type: ignore[attr-defined]
    return list(found.values())


def _changes(node: ast.AST, carrier: ast.AST | None) -> Iterator[tuple[ast.AST, str]]:
    """Yield nodes with what is written in their place. What is in an f-string has no place of its own (Python 3.11)."""
    if isinstance(node, ast.JoinedStr):
        carrier = carrier or node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "format_spec", "type_params", "bases"}:
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":
            continue
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_for_people(child):
                continue
            place = child if hasattr(child, "lineno") else node
            for new in _replacements(child, node):
                if isinstance(value, list):
                    value[at] = new
                else:
                    setattr(node, name, new)
                shown = carrier or (new if place is child else node)
                with suppress(ValueError):
                    text = ast.unparse(shown)
                    whole = isinstance(shown, ast.stmt | ast.Constant | ast.JoinedStr)
                    yield carrier or place, text if whole else f"({text})"
                if isinstance(value, list):
                    value[at] = child
                else:
                    setattr(node, name, child)
            yield from _changes(child, carrier)


def _is_for_people(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id in {"__all__", "Scalar", "SpirvType"}
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    unused = isinstance(node, ast.Delete) and isinstance(node.targets[0], ast.Name)
    return alone or typing or unused or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _replacements(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    if type(node) in _SWAPS:
        yield _SWAPS[type(node)]()
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield ast.Constant(not value)
        elif isinstance(value, int | float):
            yield ast.Constant(value + 1)
        elif isinstance(value, str):
            yield ast.Constant(f"{value}~")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) not in {"False", "[]"}:
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Continue | ast.Break | ast.Raise | ast.Delete | ast.AugAssign | ast.Expr):
        yield ast.Pass()
    if isinstance(parent, ast.If | ast.IfExp | ast.While) and node is parent.test:
        yield ast.UnaryOp(ast.Not(), copy.deepcopy(node))  # type: ignore[arg-type]


# ---------------------------------------------------------------- runs


def _in_fork(work: Callable[[], int], limit: float) -> int:
    """Return the exit status of `work` in a fork, 124 if it took longer than `limit` seconds."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 124


def _pytest(folder: str, *arguments: str, plugins: Sequence[object] = ()) -> int:
    options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "ignore", f"--basetemp={folder}")
    return int(pytest.main([*options, *arguments], plugins=list(plugins)))


class _Passes:
    """Notes which lines of the package each test passes over, how long it takes, and what is imported."""

    def __init__(self, answer: Path) -> None:
        self._answer, self._test = answer, ""
        self._lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self._times: dict[str, float] = {}

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        del event, argument
        name = frame.f_code.co_filename
        return self._local if name.startswith(str(PACKAGE)) else None

    def _local(self, frame: FrameType, event: str, argument: object) -> Any:
        del event, argument
        self._lines[self._test].add((frame.f_code.co_filename, frame.f_lineno))
        return self._local

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._test, start = item.nodeid, time.process_time()
        sys.settrace(self.trace)
        yield
        sys.settrace(None)
        self._times[self._test] = time.process_time() - start

    def pytest_sessionfinish(self) -> None:
        lines = {test: sorted(found) for test, found in self._lines.items()}
        self._answer.write_text(json.dumps([lines, self._times, list(sys.modules)]))


class _Order:
    """Leaves out other tests than those named, and runs these in the order given."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places), key=lambda item: self._places[item.nodeid]
        )


_OURS = (
    "retarget_opencl",
    "pytest_retarget",
    "tests",
    "conftest",
    "opencl_",
    "test_",
    "__main__",
    "_pytest",
    "hypothesis",
)


class Group:
    """The tests of one part of the package."""

    def __init__(self, tests: str, folder: Path) -> None:
        answer = folder / "passes.json"
        self._arguments = [*tests.split(), "-m", "not slow"]
        plugin = _Passes(answer)
        status = _in_fork(lambda: _pytest(str(folder / "t"), *self._arguments, plugins=[plugin]), 1200)
        if status != 0:
            sys.exit(f"{tests}: the tests fail without any change (exit status {status})")
        lines, self._times, modules = json.loads(answer.read_text())
        self._tests: dict[tuple[str, int], set[str]] = defaultdict(set)
        for test, places in lines.items():
            for name, line in places:
                self._tests[name, line].add(test)
        for module in modules:
            if not module.startswith(_OURS):
                with suppress(Exception):
                    importlib.import_module(module)
        self._folder = folder

    def notices(self, mutant: Mutant, limit: float) -> str:
        """Return how a change was noticed, nothing if it was not."""
        places = [(str(mutant.path), line) for line in range(mutant.first, mutant.last + 1)]
        tests: set[str] = set().union(*(self._tests[place] for place in places if place in self._tests))
        if not tests:  # executed at import, as tables are
            tests = set(self._times)
        words = [word for word in re.findall(r"\w{3,}", mutant.diff) if word not in {"spirv", "text_rule"}]
        order = _Order(sorted(tests, key=lambda test: (not any(word in test for word in words), self._times[test])))
        original = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
            if loader.path == str(mutant.path):
                return compile(mutant.text, loader.path, "exec")
            return original(loader, name)

        def work() -> int:
            SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
            return _pytest(str(self._folder / "t"), *self._arguments, plugins=[order])

        status = _in_fork(work, limit)
        return "" if status in {0, 5} else "time" if status == 124 else "test"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="modules below retarget_opencl; without any, all that have a group")
    parser.add_argument("--each", type=int, default=12, help="changes of each module")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=120, help="seconds for the tests of one change")
    parser.add_argument("--least", type=float, default=0.95, help="share of the changes that must be noticed")
    chosen = parser.parse_args()
    known = {block.strip() for block in EQUIVALENT.read_text().split("\n\n")} if EQUIVALENT.exists() else set()
    known = {"\n".join(line for line in block.splitlines() if not line.startswith("#")) for block in known}
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    sums: Counter[str] = Counter()
    for tests, patterns in GROUPS.items():
        paths = [path for pattern in patterns for path in sorted(PACKAGE.glob(pattern)) if path.name != "__init__.py"]
        names = [str(path.relative_to(PACKAGE)) for path in paths]
        wanted = [path for path, name in zip(paths, names, strict=True) if not chosen.modules or name in chosen.modules]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            group = Group(tests, Path(folder))
            for path in wanted:
                found, name = mutants(path), str(path.relative_to(PACKAGE))
                sample = random.Random(f"{chosen.seed} {name}").sample(found, min(chosen.each, len(found)))  # noqa: S311
                counts = Counter({"tried": len(sample)})
                for mutant in sample:
                    shown = f"{name}\n{mutant.diff}"
                    if shown in known:
                        counts["equivalent"] += 1
                    elif group.notices(mutant, chosen.limit):
                        counts["noticed"] += 1
                    else:
                        print(f"{shown}\n", flush=True)
                print(
                    f"{name}: {counts['noticed']} of {counts['tried'] - counts['equivalent']} noticed, "
                    f"{counts['equivalent']} equivalent, of {len(found)} possible",
                    flush=True,
                )
                sums += counts
    counting = sums["tried"] - sums["equivalent"]
    share = sums["noticed"] / max(counting, 1)
    print(f"{sums['noticed']} of {counting} noticed ({share:.1%}), {sums['equivalent']} equivalent")
    return 0 if sums["noticed"] >= chosen.least * counting else 1


if __name__ == "__main__":
    sys.exit(main())
