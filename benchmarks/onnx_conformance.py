"""The table of what passes, operators by targets, from junit files of runs of the suite `onnx`.

`python3 benchmarks/onnx_conformance.py junit.xml… -o docs/measurements/conformance.md`: that of `make conformance`, and
that of `make oracles` where there is one.

A test counts as passed on a target if its run target passed: compiled, ran, and gave what ONNX expects. Expected
failures are failures here, and so are what an expectation has skipped and what is intermittent, passed or not: the page
does not change with chance. A target without any run, because its device is missing, is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from retarget.support import RetargetError, display_path, write_atomically
from retarget_cases.onnx.manifest_file import Manifest, read_manifest

__all__ = ["Result", "conformance_page", "main", "read_results"]

_INTERMITTENT = "intermittent"
_STAGES = ("compile", "load", "run", "compare", _INTERMITTENT, "not tried")
_OTHERS = {"tvm", "xla"}

_PAGE = """\
# Conformance: ONNX's node tests

`make conformance` writes this page. The ONNX project's own tests of single operators ({package}: {tests}
of {operators} operators) are compiled, run, and compared with ONNX's results at ONNX's tolerances. The tests of
functions that define an operator by others (`…_expanded`) count for that operator.

{devices}

Later changes, most of them in the OpenCL package, are not in these figures.

A test passes on a target if it compiles, runs and gives the expected results. `suites/onnx/expectations.toml` lists the
known failures with their reasons: a run fails if another test fails, or if one of these passes. Tests whose results
depend on chance are intermittent, and count as failures even if they passed in this run.
{others}
## Totals

{totals}

Failures by stage:

{stages}

## By operator

Operators of which all tests pass on every target, with the number of tests: {whole}.

Operators of which no test passes on any target: {none}.

Operators of which equally many tests pass on every target: {equal}.

All other operators: passed tests of all tests. A dash means that no test ran.

{rows}
"""


_ABOUT_OTHERS = """
TVM and XLA are other compilers, to check the reference with: [is it right?](../extending.md#is-the-reference-right)
`make oracles` runs them, and `docs/examples/oracles/onnx/expectations.toml` lists their known failures. TVM has a front
end of its own. XLA reads no ONNX: torch-mlir translates the models to StableHLO, and what does not compile fails mostly
there. Its importer is IREE's too: XLA is a second opinion on what comes after it, and wrong values may be torch-mlir's.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one node test ended on one target. `passed` is None where it was skipped; `stage` says where it failed.

    `build` names the compiler and its version, `day` is that of the run (`2026-01-31`).
    """

    test: str
    target: str
    device: str
    passed: bool | None
    stage: str = ""
    build: str = ""
    day: str = ""


def read_results(path: Path) -> tuple[Result, ...]:
    """Return the results of a junit file's run targets.

    Raises `RetargetError` for a file that is not a junit file, and for one without run targets.
    """
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314  pytest wrote it
    except OSError as error:
        msg = f"{display_path(path)}: cannot be read: {error.strerror}"
        raise RetargetError(msg) from error
    except ElementTree.ParseError as error:
        msg = f"{display_path(path)}: not a junit file: {error}"
        raise RetargetError(msg) from error
    cases = list(root.iter("testcase"))
    results = [result for case in cases if (result := _result(case)) is not None]
    results += _skipped(cases)
    if not results:
        msg = (
            f"{display_path(path)}: holds no run targets; expected the junit file of "
            "`pytest suites/onnx -m conformance --junitxml=FILE`"
        )
        raise RetargetError(msg)
    suite = next(root.iter("testsuite"), None)
    day = (suite.get("timestamp", "") if suite is not None else "").partition("T")[0]
    return tuple(replace(result, day=day) for result in results)


def _result(case: ElementTree.Element) -> Result | None:
    properties = _properties(case)
    if "retarget.runtime" not in properties:
        return None
    skipped = case.find("skipped")
    passed: bool | None = case.find("failure") is None and case.find("error") is None and skipped is None
    if skipped is not None and skipped.get("type") == "pytest.skip":
        passed = False if skipped.get("message", "").startswith("blocked by") else None
    stage = properties.get("retarget.stage", "")
    if "retarget.intermittent" in properties:
        passed, stage = False, _INTERMITTENT
    return Result(
        test=properties["retarget.module"],
        target=_target(properties),
        device=properties.get("retarget.device", ""),
        passed=passed,
        stage=stage if passed is False else "",
        build=properties.get("retarget.compiler_build", "").partition(" (")[0],
    )


def _properties(case: ElementTree.Element) -> dict[str, str]:
    return {one.get("name", ""): one.get("value", "") for one in case.iter("property")}


def _target(properties: Mapping[str, str]) -> str:
    return ", ".join(dict.fromkeys([properties["retarget.compiler"], properties["retarget.runtime"]]))


def _skipped(cases: Iterable[ElementTree.Element]) -> Iterable[Result]:
    """Yield what an expectation has skipped: it has no properties, and its name ends in the names of its configs."""
    known: dict[str, str] = {}
    bare: list[str] = []
    for case in cases:
        properties = _properties(case)
        skipped = case.find("skipped")
        if "retarget.runtime" in properties:
            known[f"_{properties['retarget.compiler']}_{properties['retarget.runtime']}"] = _target(properties)
        elif not properties and skipped is not None and skipped.get("type") == "pytest.skip":
            bare.append(case.get("name", ""))
    for name in bare:
        for ending, target in known.items():
            if name.endswith(ending):
                yield Result(test=name.removesuffix(ending), target=target, device="", passed=None)


def conformance_page(manifest: Manifest, results: Iterable[Result]) -> str:
    """Return the page, in Markdown."""
    given = _judged(results)
    operators = {name: tags[0].removeprefix("op-") for name, tags in manifest.tests.items()}
    targets = list(dict.fromkeys(result.target for result in given))
    run = Counter((result.target, operators.get(result.test, result.test)) for result in given)
    passed = Counter((one.target, operators.get(one.test, one.test)) for one in given if one.passed)
    stages = Counter((result.target, result.stage) for result in given if result.passed is False)
    tests = Counter(operators.values())
    names = sorted(tests, key=str.lower)
    sums = [
        (sum(one.target == target for one in given if one.passed), sum(one.target == target for one in given))
        for target in targets
    ]
    totals = [f"{good} of {all_} ({good / all_:.1%})" for good, all_ in sums]
    whole = [str(sum(0 < run[target, name] == passed[target, name] for name in names)) for target in targets]
    cells = {name: [_cell(passed[one, name], run[one, name]) for one in targets] for name in names}
    equal = {name: found[0] for name, found in cells.items() if len({*found}) == 1 and found[0] != "-"}
    good = [name for name, cell in equal.items() if cell == f"{tests[name]}/{tests[name]}"]
    bad = [name for name, cell in equal.items() if cell.startswith("0/")]
    return _PAGE.format(
        package=manifest.package,
        tests=len(manifest.tests),
        operators=len(names),
        others=_ABOUT_OTHERS if _OTHERS & {*targets} else "",
        devices="\n".join(_devices(given, targets)),
        totals=_table(["", *targets], [["tests", *totals], ["whole operators", *whole]]),
        stages=_table(["", *targets], [[stage, *(str(stages[one, stage]) for one in targets)] for stage in _STAGES]),
        whole=", ".join(f"{name} ({tests[name]})" for name in good) or "none",
        none=", ".join(f"{name} ({tests[name]})" for name in bad) or "none",
        equal=", ".join(f"{name} {equal[name]}" for name in equal if name not in {*good, *bad}) or "none",
        rows=_table(["operator", *targets], [[name, *cells[name]] for name in names if name not in equal]),
    )


def _judged(results: Iterable[Result]) -> list[Result]:
    """Leave out targets of which nothing ran; of the others, what was skipped did not pass."""
    everything = list(results)
    ran = {result.target for result in everything if result.passed is not None}
    return [
        replace(result, passed=False, stage="not tried") if result.passed is None else result
        for result in everything
        if result.target in ran
    ]


def _devices(results: Iterable[Result], targets: Sequence[str]) -> list[str]:
    found = {result.target: result for result in results if result.device}
    return [
        f"- {target}: {one.device}; {one.build}, run on {one.day}"
        if (one := found.get(target))
        else f"- {target}: no device was opened"
        for target in targets
    ]


def _cell(passed: int, run: int) -> str:
    return f"{passed}/{run}" if run else "-"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page. Return the exit status: 0 written, 1 an error."""
    parser = argparse.ArgumentParser(description="Write the table of what passes from junit files.")
    parser.add_argument("junit", nargs="+", type=Path, metavar="JUNIT", help="junit files of runs of the suite")
    parser.add_argument("--manifest", type=Path, default=Path("suites/onnx/nodes.toml"), metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the page")
    arguments = parser.parse_args(argv)
    try:
        manifest = read_manifest(arguments.manifest)
        results = {(one.target, one.test): one for path in arguments.junit for one in read_results(path)}
        page = conformance_page(manifest, [one for one in results.values() if one.test in manifest.tests])
        write_atomically(arguments.output, page.encode())
    except RetargetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: cannot write {arguments.output}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
