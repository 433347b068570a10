"""Changes the code at random places, one at a time, and says which changes the fast tests of its package do not notice.

    python tests/reliability/mutants.py --each 12 --seed 1
    python tests/reliability/mutants.py --each 40 retarget_report retarget/declare
    python tests/reliability/mutants.py --each 25 --fuzz 100

A change is another operator or number, a turned condition, a statement that is left out; in the OpenCL package, whose
texts are code, another operator in a text too, or else another text. A process that has what the tests import, save our
own code, is forked for each: the changed module takes the place of the one on disk, also in the processes that tests
start, and those tests run that pass over the changed line, which coverage.py finds first. A survivor is printed as a
diff. One whose behaviour cannot differ, or differs only in speed, goes into `equivalent_mutants.txt` with the reason,
lines of `#`.

With `--fuzz N`, `retarget fuzz` runs the same N programs for each change of the code that writes OpenCL kernels, on the
first OpenCL device of this machine. Without a change it runs them first: what fails then is no finding. A line for each
change says whether the tests notice it and which program first fails in a new way.

Why not mutmut: it changes no tables of modules, makes all changes of a package, has no seed, and did not find pytest's
plugin beside changed packages of three source folders. cosmic-ray starts the tests of a package anew for each change.
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
import runpy
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import pytest

if TYPE_CHECKING:
    from retarget.model import CompileTarget
    from retarget_fuzz.targets import Config, Failed, Runner

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OPENCL = "kernels/retarget_opencl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Modules, and the tests that are to notice their changes. Paths are relative to the repository.

    `least` is the share of the changes that must be noticed, over all parts of the `package`. `texts` are code, too.
    What is `fuzzed` decides nothing but the artifacts of the compiler config `opencl`.
    """

    package: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    least: float = 0.9
    texts: bool = False
    fuzzed: bool = False


def _opencl(modules: str, *tests: str) -> Part:
    return Part(
        package="retarget_opencl",
        modules=tuple(f"{OPENCL}/{module}" for module in modules.split()),
        tests=tuple(f"tests/retarget_opencl/{test}" for test in tests),
        least=0.97,
        texts=True,
        fuzzed="clc/" in modules,
    )


CORE_TESTS = ("tests/retarget",)
MORE_TESTS = {
    "pytest_retarget": ("tests/acceptance", "tests/retarget_ctest"),
    "retarget/arrays": (*CORE_TESTS, "tests/retarget_cases"),
    "retarget/session": (*CORE_TESTS, "tests/acceptance"),
    "retarget/worker": (*CORE_TESTS, "tests/retarget_iree/runtime", "tests/acceptance"),
    "retarget_repro": ("tests/acceptance",),
}
"""Of packages, tests outside of their own folder: whole sessions are those of pytest's plugin, as is that of `retarget
run`, and trials of targets are made in them; a worker is tested by those who give it work, and what is below in the
core, whose packages are not named here, by all of the core."""


def parts() -> list[Part]:
    """Return all parts. The tests of a package are in the folder of its name; OpenCL's have one for each part of it."""
    found = [
        Part(
            package=name,
            modules=(f"{folder.relative_to(ROOT)}/**/*.py",),
            tests=MORE_TESTS.get(name, CORE_TESTS) if top == "matrix" else (f"tests/{name}", *MORE_TESTS.get(name, ())),
        )
        for top, pattern in (("matrix", "retarget/*"), ("plugin", "*"))
        for folder in sorted((ROOT / top).glob(pattern))
        if (folder / "__init__.py").is_file()
        for name in [str(folder.relative_to(ROOT / top))]
    ]
    return [
        *found,
        _opencl("clc/ops/*.py clc/types.py", "clc"),
        _opencl("clc/addresses.py clc/barriers.py", "clc"),
        _opencl("hostprog/*rules.py", "hostprog"),
        _opencl("run/instructions.py run/scalars.py", "run"),
        _opencl("artifact/file.py", "artifact", "run"),
        _opencl("run/program.py", "run"),
    ]


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

_PAIRS = re.findall(r"(\S+) (\S+)", "<< >> <= < >= > == != && || & | + - * / ^ % fmin fmax min max")
_OPERATORS = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_OPERATOR = re.compile(
    "|".join(rf"\b{one}\b" if one.isalpha() else rf"(?<= ){re.escape(one)}(?= )" for one in _OPERATORS)
)
"""What stands for each operator of C, in the texts that are code; one between spaces, or a name."""

_UNSEEN = {"strict", "frozen", "kw_only", "indent", "examples"}
"""Arguments that change nothing for the users of a function or class that mypy checks; the last two are for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The whole text of a changed module.

    `lines` are those of the statement that changed, `called` says whether it is in a function: what is not is executed
    when the module is imported.
    """

    path: Path
    text: str
    lines: range
    called: bool

    @property
    def diff(self) -> str:
        """The changed lines, without their places."""
        lines = difflib.unified_diff(self.path.read_text().splitlines(), self.text.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Text for the bytes from `begin` to `end` of a module, which are on line `line`."""

    path: Path
    line: int
    begin: int
    end: int
    text: str

    def mutant(self) -> Mutant | None:
        """Return the changed module, None where it is none: the text is no Python there, or changes nothing."""
        data = self.path.read_bytes()
        text = (data[: self.begin] + self.text.encode() + data[self.end :]).decode()
        tree = ast.parse(data)
        try:
            if ast.dump(ast.parse(text)) == ast.dump(tree):
                return None
        except SyntaxError:
            return None
        lines, called = _statement(tree, self.line)
        return Mutant(path=self.path, text=text, lines=lines, called=called)


def changes(path: Path, *, texts: bool) -> list[Change]:
    """Return all changes of a module, save of annotations, decorators, assertions, imports and what is for people."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = {}
    for node, text in _changes(ast.parse(data), None, texts=texts):
        number: int = node.lineno  # type: ignore[attr-defined]
        begin = starts[number - 1] + node.col_offset  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        found[begin, end, text] = Change(path=path, line=number, begin=begin, end=end, text=text)
    return list(found.values())


def _statement(tree: ast.Module, line: int) -> tuple[range, bool]:
    """Return the lines of the innermost statement at a line (its head, if it has a body); True if in a function."""
    lines, called = range(line, line + 1), False
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            end = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno or line
            if line <= end:
                lines = range(node.lineno, end + 1)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                called = True
    return lines, called


def _changes(node: ast.AST, carrier: ast.AST | None, *, texts: bool) -> Iterator[tuple[ast.AST, str]]:
    """Yield nodes with what is written in their place. What is in an f-string has no place of its own (Python 3.11)."""
    if isinstance(node, ast.JoinedStr):
        carrier = carrier or node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "format_spec", "type_params", "bases"}:
            continue
        if isinstance(node, ast.keyword) and node.arg in _UNSEEN:
            continue
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_for_people(child):
                continue
            place = child if hasattr(child, "lineno") else node
            for new in _replacements(child, node, texts=texts):
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
            yield from _changes(child, carrier, texts=texts)


def _is_for_people(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id in {"__all__", "Scalar", "SpirvType"} or _is_limit(node)
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    unused = isinstance(node, ast.Delete) and isinstance(node.targets[0], ast.Name)
    return alone or typing or unused or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _is_limit(node: ast.Assign) -> bool:
    """Whether it is a size or a time of a module, such as `_LARGEST = 16 * 1024**2`: no test is to pin its value."""
    parts = [one for one in ast.walk(node.value) if not isinstance(one, ast.operator)]
    numbers = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, int | float)]
    only = all(isinstance(one, ast.BinOp | ast.Constant) for one in parts)
    return only and len(numbers) > 0 and (max(numbers) > 9 or any(isinstance(one, float) for one in numbers))


def _replacements(node: ast.AST, parent: ast.AST, *, texts: bool) -> Iterator[ast.AST]:
    if type(node) in _SWAPS:
        yield _SWAPS[type(node)]()
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield ast.Constant(not value)
        elif isinstance(value, int | float):
            yield ast.Constant(value + 1)
        elif isinstance(value, str) and texts:
            swapped = _OPERATOR.sub(lambda found: _OPERATORS[found[0]], value, count=1)
            yield ast.Constant(f"{value}~" if swapped == value else swapped)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) not in {"False", "[]"}:
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Continue | ast.Break | ast.Raise | ast.Delete | ast.AugAssign | ast.Expr):
        yield ast.Pass()
    if isinstance(parent, ast.If | ast.IfExp | ast.While) and node is parent.test:
        yield ast.UnaryOp(ast.Not(), copy.deepcopy(node))  # type: ignore[arg-type]


# ---------------------------------------------------------------- runs


def _in_fork(work: Callable[[], int], limit: float, output: str = os.devnull) -> int:
    """Return the exit status of `work` in a fork, 124 if it took longer than `limit` seconds."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.setsid()
            streams = [os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)]
            for stream, opened in enumerate([*streams, streams[1]]):
                os.dup2(opened, stream)
            status = work()
        finally:
            sys.stdout.flush()
            os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        status = 124 << 8
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _pytest(folder: Path, *arguments: str, plugins: Sequence[object] = ()) -> int:
    options = ("-q", "-m", "not slow", "-p", "no:cacheprovider", "-W", "ignore", f"--basetemp={folder / 't'}")
    return int(pytest.main([*options, *arguments], plugins=list(plugins)))


def _take_place(mutant: Mutant, text: Path) -> None:
    """Have a changed module, written to `text`, imported by this process and those that it starts."""
    text.write_text(mutant.text)
    hook = HERE / "mutated/sitecustomize.py"
    path = filter(None, [str(hook.parent), os.environ.get("PYTHONPATH")])
    os.environ |= {"MUTANT_OF": str(mutant.path), "MUTANT": str(text), "PYTHONPATH": os.pathsep.join(path)}
    runpy.run_path(str(hook))
    sys.path.append(str(hook.parent))  # some processes are started with all of it as their PYTHONPATH


class _Passes:
    """Tells coverage.py which test runs, and notes how long each takes and what is imported.

    What a fixture of more than one test does counts to all tests that have it, not to the first, which sets it up.
    """

    def __init__(self, measured: coverage.Coverage, answer: Path) -> None:
        self._measured, self._answer = measured, answer
        self._times: dict[str, float] = {}
        self._failed: list[str] = []
        self._users: dict[str, list[str]] = defaultdict(list)
        self._context = ""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.monotonic()
        for known in item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ():
            self._users[_name_of(known[-1])].append(item.nodeid)
        with self._in_context(item.nodeid):
            yield
        self._times[item.nodeid] = time.monotonic() - start

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        with nullcontext() if fixturedef.scope == "function" else self._in_context(_name_of(fixturedef)):
            yield

    @contextmanager
    def _in_context(self, context: str) -> Iterator[None]:
        before, self._context = self._context, context
        self._measured.switch_context(context)
        try:
            yield
        finally:
            self._context = before
            self._measured.switch_context(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        others = [
            name
            for name, module in list(sys.modules.items())
            if (file := getattr(module, "__file__", None))
            and (Path(sys.prefix) in Path(file).parents or ROOT not in Path(file).parents)
        ]
        times = {test: taken for test, taken in self._times.items() if test not in self._failed}
        self._answer.write_text(json.dumps([times, self._failed, others, self._users]))


def _name_of(fixture: pytest.FixtureDef[object]) -> str:
    return f"fixture {fixture.argname} of {fixture.baseid}"


class _Order:
    """Leaves out other tests than those named, and runs these in the order given."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places), key=lambda item: self._places[item.nodeid]
        )


class Runs:
    """The tests of one part. Tests that fail without any change notice nothing; `failed` names them."""

    def __init__(self, part: Part, folder: Path) -> None:
        self._folder, answer, settings = folder, folder / "passes.json", folder / "settings.ini"
        included = "".join(f"\n    {ROOT / pattern.replace('/**/*.py', '/*')}" for pattern in part.modules)
        settings.write_text(
            f"[run]\ndata_file = {folder / 'coverage'}\nparallel = true\ncontext = ${{PYTEST_CURRENT_TEST-}}\n"
            f"sigterm = true\npatch = fork, _exit\ndisable_warnings = no-data-collected\ninclude ={included}\n"
        )

        def work() -> int:
            os.environ["COVERAGE_PROCESS_START"] = str(settings)  # for the processes that tests start
            measured = coverage.Coverage(config_file=str(settings))
            measured.start()
            status = _pytest(folder, *part.tests, plugins=[_Passes(measured, answer)])
            measured.stop()
            measured.save()
            return status

        status = _in_fork(work, 3600, str(folder / "output"))
        if status not in {0, 1}:
            sys.exit(
                f"{' '.join(part.tests)}: exit status {status} without any change\n{(folder / 'output').read_text()}"
            )
        self._times, self.failed, modules, users = json.loads(answer.read_text())
        combined = coverage.Coverage(config_file=str(settings))
        combined.combine()
        data = combined.get_data()
        self._tests: dict[tuple[str, int], set[str]] = defaultdict(set)
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                names = (re.sub(r" \((setup|call|teardown)\)$", "", name) for name in contexts)
                self._tests[file, line].update(*(users.get(name, [name]) for name in names))
        for module in modules:
            with suppress(Exception):
                importlib.import_module(module)

    def notices(self, mutant: Mutant, limit: float) -> str:
        """Return how a change was noticed, nothing if it was not, by tests that take `limit` seconds without it."""
        places = [(str(mutant.path), line) for line in mutant.lines]
        tests: set[str] = set().union(*(self._tests[place] for place in places if place in self._tests))
        tests &= self._times.keys()
        if not mutant.called or not tests:  # coverage.py does not see what the interpreter calls, as audit hooks
            tests = set(self._times)
        words = [word for word in re.findall(r"\w{3,}", mutant.diff) if word not in {"spirv", "text_rule"}]
        ordered, taken = [], 0.0
        for test in sorted(tests, key=lambda test: (not any(word in test for word in words), self._times[test])):
            if taken < limit:
                ordered.append(test)
                taken += self._times[test]
        if not ordered:
            return ""

        def work() -> int:
            _take_place(mutant, self._folder / "mutant.py")
            files = sorted({test.split("::")[0] for test in ordered})
            return _pytest(self._folder, "-x", *files, plugins=[_Order(ordered)])

        status = _in_fork(work, 10 * taken + 120)
        return "" if status in {0, 5} else "time" if status == 124 else "test"


class Fuzz:
    """`retarget fuzz` on the config `opencl` of the shipped suites, with the same programs each time.

    What IREE compiles is kept, and a program whose artifact is as without a change is not run again. A failure is not
    reduced: what fails without a change is known, and the first other one ends the search.
    """

    def __init__(self, programs: int, seed: str, folder: Path) -> None:
        self._options = ["--most", str(programs), "--seed", seed]
        self._folder, self._suites = folder, folder / "suites"
        self._found = self._suites / "found"
        self._found.mkdir(parents=True)
        shutil.copy(ROOT / "suites/matrix.toml", self._suites)
        suite = 'name = "fuzzed"\nsrcs = ["module.mlir"]\nkind = "check"\ntargets = ["opencl"]\n'
        (self._suites / "suite.toml").write_text(f"[[module_test_suite]]\n{suite}")
        (self._suites / "module.mlir").write_text("func.func @f() {\n  return\n}\n")
        status, said = self._run(None, 3600)
        if not (folder / "artifacts.json").exists():
            sys.exit(f"retarget fuzz: exit status {status} without any change\n{said}")
        print("".join(f"without any change: {line}\n" for line in said.splitlines()), flush=True)
        self._found.rename(folder / "known")

    def finds(self, mutant: Mutant, limit: float) -> tuple[bool, str]:
        """Return whether a program fails only with a change, and what `retarget fuzz` says of it."""
        shutil.rmtree(self._found, ignore_errors=True)
        shutil.copytree(self._folder / "known", self._found)
        status, said = self._run(mutant, limit)
        lines = re.findall(r"^no verdict.*|^\d+ programs? in \d+ s", said, re.MULTILINE) or [said]
        if status == 128 + signal.SIGINT and len(lines) == 1:
            lines.append(json.loads((self._found / "findings.json").read_text())[-1]["summary"])
        return status != 0, "; ".join(lines)

    def _run(self, mutant: Mutant | None, limit: float) -> tuple[int, str]:
        log = self._folder / "log"
        status = _in_fork(lambda: self._search(mutant, limit), limit + 600, str(log))
        return status, log.read_text()

    def _search(self, mutant: Mutant | None, limit: float) -> int:
        if mutant is not None:
            _take_place(mutant, self._folder / "mutant.py")
        from retarget.cli import main
        from retarget_fuzz import command, search, targets

        artifacts = self._folder / "artifacts.json"
        passed = {} if mutant is None else json.loads(artifacts.read_text())
        engine, run = command.Engine, targets.Runner._run

        def run_changed(runner: Runner, compiled: CompileTarget, config: Config) -> Failed | None:
            artifact, program = runner.engine.compile(compiled).artifact, compiled.module.path.parent.name
            if artifact is not None and passed.get(program) == artifact.digest:
                return None
            failed = run(runner, compiled, config)
            if failed is None and mutant is None:
                passed[program] = artifact.digest
            elif failed is not None and failed.no_verdict:
                end()
            return failed

        def end(*_: object) -> None:
            if mutant is not None:
                raise KeyboardInterrupt

        command.Engine = lambda **given: engine(**given | {"cache": self._folder / "cache"})
        command._bundle = lambda *_: "none"
        targets.Runner._run, search.Search._reduce = run_changed, end
        status = main(["fuzz", str(self._suites), "-o", str(self._found), "--for", f"{limit}s", *self._options])
        if mutant is None:
            artifacts.write_text(json.dumps(passed))
        return status


def equivalents() -> set[str]:
    """Return path and diff of each change that is known to be equivalent; note those of lines that are gone."""
    found = set()
    for block in EQUIVALENT.read_text().split("\n\n"):
        name, *diff = [line for line in block.strip().splitlines() if not line.startswith("#")]
        lines = (ROOT / name).read_text().splitlines() if (ROOT / name).is_file() else []
        for line in diff:
            if line.startswith("-") and line[1:] not in lines:
                gone = f"{EQUIVALENT.relative_to(ROOT)}: {name} has no line {line[1:]!r} any more; delete its entry\n"
                sys.stderr.write(gone)
        found.add("\n".join([name, *diff]))
    return found


def try_part(part: Part, chosen: argparse.Namespace, known: set[str], fuzz: Fuzz | None) -> Counter[str]:
    """Try changes of a part, print those that nothing notices, or all with `fuzz`; return how many were noticed."""
    paths = sorted({path for pattern in part.modules for path in ROOT.glob(pattern) if path.name != "__main__.py"})
    found = [change for path in paths for change in changes(path, texts=part.texts)]
    random.Random(f"{chosen.seed} {part.modules[0]}").shuffle(found)  # noqa: S311
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(part, Path(folder))
        for test in runs.failed:
            print(f"{test} fails without any change: it notices nothing", flush=True)
        for mutant in islice(filter(None, (change.mutant() for change in found)), chosen.each):
            shown = f"{mutant.path.relative_to(ROOT)}\n{mutant.diff}"
            how = "equivalent" if shown in known else runs.notices(mutant, chosen.limit)
            counts.update({"tried": 1, how: 1})
            if is_fuzzed := fuzz is not None and how != "equivalent":
                is_found, said = fuzz.finds(mutant, chosen.limit)
                counts[f"found {bool(how)}"] += is_found
                print(f"line {mutant.lines.start}; tests: {how or 'no'}; fuzz: {'yes' if is_found else 'no'}: {said}")
            if is_fuzzed or how in {"", "time"}:
                note = "\n(noticed by the time of its tests only)" if how == "time" else ""
                print(f"{shown}{note}\n", flush=True)
    counts["noticed"] = counts["test"] + counts["time"]
    print(
        f"{part.modules[0]}: {counts['noticed']} of {counts['tried'] - counts['equivalent']} noticed "
        f"({counts['time']} by their time), {counts['equivalent']} equivalent, of {len(found)} changes",
        flush=True,
    )
    if fuzz is not None:
        print(f"found by retarget fuzz: {counts['found True']} of those, {counts['found False']} others", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known_parts = parts()
    names = sorted({part.package for part in known_parts})
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"all, or some of {', '.join(names)}")
    parser.add_argument("--each", type=int, default=20, help="changes of each package; of OpenCL's, of each part of it")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=60, help="seconds of tests for one change, fastest first")
    parser.add_argument(
        "--fuzz",
        type=int,
        metavar="N",
        help="run N programs of `retarget fuzz`, too, with each change of what writes OpenCL C, for --limit seconds",
    )
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.packages if name not in names]:
        parser.error(f"no package {unknown[0]!r}; expected some of {', '.join(names)}")
    known = equivalents()
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")  # of what tests import
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(chosen.fuzz, chosen.seed, Path(folder)) if chosen.fuzz else None
        for part in known_parts:
            if (not chosen.packages or part.package in chosen.packages) and (part.fuzzed or not fuzz):
                sums[part.package] += try_part(part, chosen, known, fuzz)
    low = 0
    for part in {part.package: part for part in known_parts if part.package in sums}.values():
        counts = sums[part.package]
        counting = counts["tried"] - counts["equivalent"]
        share = counts["noticed"] / max(counting, 1)
        verdict = f"; fewer than {part.least:.0%}" if share < part.least else ""
        low += bool(verdict)
        print(f"{part.package}: {counts['noticed']} of {counting} noticed ({share:.1%}){verdict}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
