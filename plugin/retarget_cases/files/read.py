"""A cases file as frozen data, read with every error that shows without the module, each with file, line and key path.

What is written is kept as it is: what values become depends on the types that the function was declared with.
"""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from pydantic import ValidationError
from retarget.model import MAJORITY, Suite, is_glob
from retarget.session import describe_value
from retarget.support import (
    DataFiles,
    Diagnostic,
    DiagnosticsError,
    KeyPath,
    Problem,
    RetargetError,
    did_you_mean,
    read_toml,
)

from retarget_cases.files import path_problem
from retarget_cases.files.tables import (
    TYPE_NAMES,
    CasesFileTable,
    CaseTable,
    FillTable,
    IntegersTable,
    IotaTable,
    ModelCaseTable,
    ModelFileTable,
    NormalTable,
    UniformTable,
    ValueTable,
    element_dtype,
    read_table,
)
from retarget_cases.files.values import Overrides, Value, read_overrides, read_value


class Reference(Struct, frozen=True, kw_only=True):
    """A function of a Python file, `written` as `file.py:function`, that computes what is expected. Without a `file`
    the package `function` does, by evaluating the ONNX model."""

    written: str
    file: str
    function: str
    key_path: KeyPath


EVALUATORS = ("onnxruntime", "onnx")
"""Packages that evaluate ONNX models: ONNX Runtime, and the reference evaluator of the ONNX project."""
NOTHING_EXPECTED = (
    "found nothing to compare the results with, expected one of expected, reference, agree_with, or `agree` in the "
    "suite: a case that cannot fail tests nothing"
)
DEFAULT_REFERENCE = Reference(written="onnxruntime", file="", function="onnxruntime", key_path=())


class WrittenCase(Struct, frozen=True, kw_only=True):
    """One `[[case]]`. At most one of `expected`, `reference` and `agreement` is set; without any, the case agrees as
    its suite says. `key_path` is its key path.

    Of an ONNX model: `names` are those of the inputs where they are given by name, `sizes` its dynamic sizes by name,
    `generate` the generators of inputs by the NumPy name of an element type.
    """

    key_path: KeyPath = ()
    name: str | None
    function: str | None = None
    inputs: tuple[Value, ...] = ()
    expected: tuple[Value, ...] | None = None
    reference: Reference | None = None
    agreement: Agreement | None = None
    tolerance: Overrides = field(default_factory=Overrides)
    names: tuple[str, ...] | None = None
    sizes: Mapping[str, tuple[int, KeyPath]] = field(default_factory=dict)
    generate: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether nothing is said of its results, so that they are to agree as the suite says."""
        has_reference = self.reference is not None and self.reference != DEFAULT_REFERENCE
        return self.agreement is None and self.expected is None and not has_reference


class CasesFile(Struct, frozen=True, kw_only=True):
    """The content of a cases file. `parameters` are (scope, path as written, key path). Of an ONNX model: `model` is
    its path, `install` the command that brings it, `sizes` and `generate` are as of cases."""

    path: Path
    text: str = ""
    parameters: tuple[tuple[str, str, KeyPath], ...] = ()
    tolerance: Overrides = field(default_factory=Overrides)
    cases: tuple[WrittenCase, ...] = ()
    model: str = ""
    install: str = ""
    sizes: Mapping[str, tuple[int, KeyPath]] = field(default_factory=dict)
    generate: Mapping[str, Value] = field(default_factory=dict)

    def named_files(self) -> Iterator[str]:
        """Yield the files that it names, as written."""
        yield from (written for _, written, _ in self.parameters)
        for case in self.cases:
            for value in (*case.inputs, *(case.expected or ())):
                yield from (written for written, _ in value.files())
            if case.reference is not None and case.reference.file:
                yield case.reference.file

    def archives(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the parameter archives by scope, which lie in `folder`. Raises `DiagnosticsError`."""
        files = DataFiles(folder=folder, base=self.path.parent)
        for scope, written, key_path in self.parameters:
            try:
                yield scope, files.path(written, is_large=True)
            except RetargetError as error:
                raise self.diagnostic(key_path, str(error)) from error

    def agreed_config(self, agreement: Agreement, compiler: str) -> str:
        """Return the config to agree with. Raises `DiagnosticsError` where no rule is for `compiler`."""
        config = agreement.config(compiler)
        if config is None:
            raise self.diagnostic(agreement.key_path, unserved(agreement, compiler))
        return config

    def agreement_diagnostics(self, suite: Suite, running: Sequence[str]) -> Sequence[Diagnostic]:
        """Return what is wrong with the configs that cases are to agree with, where `running` run the module. See
        `reach_problems` and `cycle_problems`."""
        known, problems = suite.known_compilers, list[Problem]()
        agreements = [case.agreement for case in self.cases if case.agreement is not None]
        for case in self.cases:
            if case.is_open and case.reference is None and not suite.agree:
                problems.append(Problem(case.key_path, NOTHING_EXPECTED))
        for agreement in agreements:
            problems += reach_problems(agreement, suite=suite.name, running=running, known=known)
        return Problem.locate(self.path, self.text, [*problems, *cycle_problems(agreements, known)])

    def diagnostic(self, key_path: KeyPath, message: str) -> DiagnosticsError:
        """Return the error for a key of the file."""
        return DiagnosticsError(Problem.locate(self.path, self.text, [Problem(key_path, message)]))


def read_cases_file(path: Path, folder: Path, *, of_model: bool = False) -> CasesFile:
    """Return what a cases file says, `of_model` as the kind `onnx` has it. Data must lie in `folder`. Raises
    `DiagnosticsError` with all errors."""
    try:
        status = path.stat()
    except OSError:
        return _read(path, folder, of_model)
    return _read_version(path, folder, of_model, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=64)
def _read_version(path: Path, folder: Path, of_model: bool, version: tuple[int, int, int]) -> CasesFile:  # noqa: ARG001 - it is the key
    return _read(path, folder, of_model)


def _read(path: Path, folder: Path, of_model: bool) -> CasesFile:
    text, data, diagnostics = read_toml(path)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    problems: list[Problem] = []
    table = read_table(ModelFileTable if of_model else CasesFileTable, data, (), problems)
    files = DataFiles(folder=folder, base=path.parent)
    reader = _Reader(files=files, problems=problems, of_case=ModelCaseTable if of_model else CaseTable)
    found = reader.file(path, text, data, table)
    if problems:
        raise DiagnosticsError(Problem.locate(path, text, problems))
    return found


class _Reader(Struct, frozen=True, kw_only=True):
    """Reads one file and collects what is wrong with it. `files` finds what it names; a case is read as `of_case`."""

    files: DataFiles
    problems: list[Problem]
    of_case: type[CaseTable]

    def file(self, path: Path, text: str, data: Mapping[str, object], table: CasesFileTable | None) -> CasesFile:
        """Return what the file says, as far as it is well-formed."""
        if table is None:  # its tables for themselves, so that one error does not hide those of the others
            parameters, tolerance = (
                one if isinstance(one := data.get(key), dict) else {} for key in ("parameters", "tolerance")
            )
            archives = {scope: archive for scope, archive in parameters.items() if isinstance(archive, str)}
            table = CasesFileTable.model_construct(parameters=archives, tolerance=tolerance, case=[])
            entries = data.get("case")
            cases: list[tuple[int, CaseTable]] = []
            for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                with contextlib.suppress(ValidationError):  # reported for the whole file already
                    cases.append((index, self.of_case.model_validate(entry)))
        else:
            cases = list(enumerate(table.case))
        named = [(scope, written, ("parameters", scope)) for scope, written in table.parameters.items()]
        for _, written, key_path in named:
            self._path(written, key_path, suffixes=(".irpa", ".gguf", ".safetensors"), is_mapped=True)
        sizes, generate = _sizes(table, ()), self._generators(table, ())
        written_cases = [self._case(entry, ("case", index), sizes, generate) for index, entry in cases]
        self._names(written_cases)
        return CasesFile(
            path=path,
            text=text,
            parameters=tuple(named),
            tolerance=read_overrides(table.tolerance, ("tolerance",), self.problems),
            cases=tuple(written_cases),
            model=getattr(table, "model", None) or "",
            install=getattr(table, "install", ""),
            sizes=sizes,
            generate=generate,
        )

    def _case(
        self,
        table: CaseTable,
        key_path: KeyPath,
        sizes: Mapping[str, tuple[int, KeyPath]],
        generate: Mapping[str, Value],
    ) -> WrittenCase:
        given: Mapping[str | int, object] = (
            dict(table.inputs) if isinstance(table.inputs, dict) else dict(enumerate(table.inputs))
        )
        inputs = self._values(given, (*key_path, "inputs"))
        expected = (
            None if table.expected is None else self._values(dict(enumerate(table.expected)), (*key_path, "expected"))
        )
        reference = None if table.reference is None else self._reference(table.reference, (*key_path, "reference"))
        agreement = None
        if table.agree_with is not None:
            agreement = Agreement.read(table.agree_with, (*key_path, "agree_with"), self.problems)
        ways = [key for key in ("expected", "reference", "agree_with") if getattr(table, key) is not None]
        if isinstance(table, ModelCaseTable) and not ways:
            reference = DEFAULT_REFERENCE
        elif len(ways) > 1:
            self.problems.append(Problem((*key_path, ways[1]), f"found it beside {ways[0]}, expected one of them"))
        if table.expected is not None and not table.expected:
            nothing = "expected one value per result: a case that cannot fail tests nothing"
            self.problems.append(Problem((*key_path, "expected"), f"found an empty array, {nothing}"))
        return WrittenCase(
            key_path=key_path,
            name=table.name,
            function=table.function,
            inputs=inputs,
            expected=expected,
            reference=reference,
            agreement=agreement,
            tolerance=read_overrides(table.tolerance, (*key_path, "tolerance"), self.problems),
            names=tuple(map(str, given)) if isinstance(table.inputs, dict) else None,
            sizes={**sizes, **_sizes(table, key_path)},
            generate={**generate, **self._generators(table, key_path)},
        )

    def _generators(self, table: CasesFileTable | CaseTable, key_path: KeyPath) -> Mapping[str, Value]:
        """Return the generators of inputs by the NumPy name of the element type."""
        found: dict[str, Value] = {}
        for name, entry in getattr(table, "generate", {}).items():
            where = (*key_path, "generate", name)
            dtype = element_dtype(name)
            if dtype is None:
                hint = did_you_mean(name, TYPE_NAMES)
                expected = f"expected an element type of numbers, such as f32 or float32{hint}"
                self.problems.append(Problem(where, f"found {name!r}, {expected}"))
                continue
            value = read_value(entry, where, self.problems)
            generators = NormalTable | UniformTable | IntegersTable | FillTable | IotaTable
            if value is not None and isinstance(value.table, generators):
                found[dtype] = value
            elif value is not None:
                expected = "expected a generator: a table with random, fill or iota"
                self.problems.append(Problem(where, f"found values, {expected}"))
        return found

    def _names(self, cases: list[WrittenCase]) -> None:
        first: dict[str, WrittenCase] = {}
        for case in cases:
            if case.name is None:
                continue
            key_path = (*case.key_path, "name")
            if not case.name.strip() or not case.name.isprintable():
                self.problems.append(Problem(key_path, f"found {case.name!r}, expected printable text"))
            other = first.setdefault(case.name, case)
            if other is not case:
                where = f"case[{other.key_path[1]}]"
                self.problems.append(
                    Problem(key_path, f"found {case.name!r}, which {where} is named already; expected another name")
                )

    def _values(self, written: Mapping[Any, object], key_path: KeyPath) -> tuple[Value, ...]:
        values = []
        for index, entry in written.items():
            value = read_value(entry, (*key_path, index), self.problems)
            if value is not None:
                values.append(value)
                for file, suffixes in value.files():
                    self._path(file, value.key_path, suffixes=suffixes)
        return tuple(values)

    def _reference(self, written: str, key_path: KeyPath) -> Reference | None:
        if written in EVALUATORS:
            return Reference(written=written, file="", function=written, key_path=key_path)
        file, colon, function = written.rpartition(":")
        if not colon or not file.endswith(".py") or not function.isidentifier():
            expected = "expected a Python file and a function of it, as in 'ref.py:matmul'"
            expected += did_you_mean(written, EVALUATORS)
            self.problems.append(Problem(key_path, f"found {written!r}, {expected}"))
            return None
        self._path(file, key_path, suffixes=(".py",))
        return Reference(written=written, file=file, function=function, key_path=key_path)

    def _path(self, written: str, key_path: KeyPath, *, suffixes: tuple[str, ...], is_mapped: bool = False) -> None:
        message = path_problem(written, self.files, suffixes, is_mapped=is_mapped)
        if message:
            self.problems.append(Problem(key_path, message))


def _sizes(table: CasesFileTable | CaseTable, key_path: KeyPath) -> Mapping[str, tuple[int, KeyPath]]:
    """Return the dynamic sizes by name, each with its key path."""
    return {name: (size, (*key_path, "sizes", name)) for name, size in getattr(table, "sizes", {}).items()}


def default_generator(dtype: str) -> ValueTable:
    """Return how inputs of an element type are generated where nothing else is said.

    Floats are from -1 to 1. Integers are 0 or 1: ids, masks and flags alike take them.
    """
    if dtype == "bool" or "int" in dtype:
        return IntegersTable(random="integers", low=0, high=2)
    if dtype == "float8_e8m0fnu":  # powers of two, without a sign
        return UniformTable(random="uniform", low=1.0, high=4.0)
    return UniformTable(random="uniform", low=-1.0, high=1.0)


_LONGEST_GLOB = 1000
"""Characters, as of the globs in suite files."""


class Agreement(Struct, frozen=True, kw_only=True):
    """Which config's results are expected, by the config that compiled: `rules` are (name or glob, config) pairs, where
    `MAJORITY` may stand for a config."""

    rules: tuple[tuple[str, str], ...]
    key_path: KeyPath
    is_table: bool = False

    @classmethod
    def read(cls, written: str | Mapping[str, object], key_path: KeyPath, problems: list[Problem]) -> Agreement:
        """Return what `agree_with` says; what is wrong with it goes to `problems`."""
        rules: tuple[tuple[str, object], ...] = (
            (("*", written),) if isinstance(written, str) else tuple(written.items())
        )
        if not rules:
            problems.append(Problem(key_path, "found an empty table, expected the name of a compiler config"))
        valid: list[tuple[str, str]] = []
        for pattern, config in rules:
            if len(pattern) > _LONGEST_GLOB:
                found = f"found a key of {len(pattern)} characters"
                problems.append(
                    Problem(
                        key_path,
                        f"{found}, expected the name of a compiler config, or a glob of at most {_LONGEST_GLOB}",
                    )
                )
            elif isinstance(config, str) and config and not is_glob(config):
                valid.append((pattern, config))
            else:
                where = key_path if isinstance(written, str) else (*key_path, pattern)
                found = repr(config) if isinstance(config, str) else describe_value(config)
                problems.append(Problem(where, f"found {found}, expected the name of a compiler config"))
        return cls(rules=tuple(valid), key_path=key_path, is_table=not isinstance(written, str))

    def config(self, compiler: str) -> str | None:
        """Return the config to agree with: by name, else by the first glob that matches; None where none does."""
        for pattern, config in self.rules:
            if pattern == compiler:
                return config
        return next((config for pattern, config in self.rules if fnmatch.fnmatchcase(compiler, pattern)), None)


def unserved(agreement: Agreement, compiler: str) -> str:
    """Return the message for a compiler config that no rule is for."""
    known = ", ".join(pattern for pattern, _ in agreement.rules)
    expected = f"expected one of {known} to match it; '*' matches every config"
    return f"found nothing to agree with for compiler config {compiler!r}, {expected}"


def reach_problems(
    agreement: Agreement, *, suite: str, running: Sequence[str], known: Sequence[str]
) -> Iterable[Problem]:
    """Yield a problem for each config that no rule is for, and for each rule that is for no config or leads to none.

    That every config agrees with itself, so that nothing is compared, is one too.
    `running` are the compiler configs that run the module in the suite of that name, `known` all that are declared.
    """
    yield from (
        Problem(agreement.key_path, unserved(agreement, compiler))
        for compiler in running
        if agreement.config(compiler) is None
    )
    if running and all(agreement.config(compiler) == compiler for compiler in running):
        found = (
            f"found nothing to compare: in suite {suite!r} only {' and '.join(running)} run the module, and each agrees"
        )
        yield Problem(agreement.key_path, f"{found} with itself; expected another compiler config that runs the module")
    wanted = {agreement.config(compiler) for compiler in running}
    for pattern, config in agreement.rules:
        key_path = (*agreement.key_path, pattern) if agreement.is_table else agreement.key_path
        if agreement.is_table and not any(fnmatch.fnmatchcase(name, pattern) for name in known):
            hint = did_you_mean(pattern, known, lists=True)
            yield Problem(key_path, f"found {pattern!r}, expected a compiler config or a glob that matches one{hint}")
        if config != MAJORITY and (config not in known or (config in wanted and config not in running)):
            found = f"{config!r}, which does not run the module" if config in known else repr(config)
            hint = did_you_mean(config, running, lists=True)
            expected = f"expected a compiler config that runs the module in suite {suite!r}{hint}"
            yield Problem(key_path, f"found {found}, {expected}")


def cycle_problems(agreements: Sequence[Agreement], known: Sequence[str]) -> Iterable[Problem]:
    """Yield a problem for a cycle of configs of one module each of which needs results of the next.

    All cases of a config run together, so one case may close a cycle that another opened. A config that is not `known`
    is reported as unknown, and is part of no cycle.
    """
    named = dict.fromkeys(word for agreement in agreements for rule in agreement.rules for word in rule)
    configs = [word for word in named if not is_glob(word) and word in known]
    waits: dict[str, dict[str, Agreement]] = {config: {} for config in configs}
    for config in configs:
        for agreement in agreements:
            other = agreement.config(config)
            if other is not None and other != config and other in waits:
                waits[config].setdefault(other, agreement)
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        found: list[str] = error.args[1][:0:-1]
        start = found.index(next(config for config in waits if config in found))
        cycle = [*found[start:], *found[: start + 1]]
        last = max((waits[one][other].key_path for one, other in pairwise(cycle)), key=str)
        shown = " → ".join(cycle)
        expected = "expected the last config of a chain to agree with none but itself"
        yield Problem(last, f"found configs that wait for each other's results, {shown}; {expected}")
