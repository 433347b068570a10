"""Runs the shipped suites in the process and by IREE's tool, and compares how each case ended.

Every target on llvm-cpu and vmvx with the runtime config `local-sync`, or a part of them (-m, -k, paths). The tool is
the environment's, a process for each call, so that both ways run on this processor. A case ended alike where it passed
both ways, or failed at the same stage with the same first line.

Exit status: 0 if all ended alike, 1 if not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace
from retarget.cli.support import add_expression_arguments, add_path_arguments, read_declared
from retarget.extension import UnavailableError
from retarget.model import Failure, RunTarget
from retarget.session import CacheChoice, Engine, ReferenceRuns
from retarget.support import RetargetError

_COMPILERS = ("llvm-cpu", "vmvx")


def _ending(failure: Failure | None) -> str:
    return "passed" if failure is None else f"{failure.signal or failure.stage}: {failure.summary}"


def _endings(
    engine: Engine, target: RunTarget, references: ReferenceRuns, others: list[RunTarget]
) -> Mapping[str, str]:
    """How the cases of a target ended, by name; the target itself where it came to none."""
    compiled = engine.compile(target.compile)
    if compiled.artifact is None:
        return {"": _ending(compiled.failure)}
    outcome = engine.run(target, compiled.artifact, references=references.of(target, others))
    return {case.name: _ending(case.failure) for case in outcome.cases} or {"": _ending(outcome.failure)}


def main() -> int:
    """Run, print what differs and how many are alike, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_path_arguments(parser)
    add_expression_arguments(parser)
    parser.set_defaults(path=["suites"], retarget_extension=[])
    options = parser.parse_args()
    declared = read_declared(options, options.path)
    counts: Counter[tuple[str, bool, bool]] = Counter()
    seconds = [0.0, 0.0]
    with Engine(registry=declared.registry, cache=CacheChoice.of_command().folder) as engine:
        references = ReferenceRuns(engine)
        for one in declared.suites:
            for target in one.selected:
                if not isinstance(target, RunTarget) or target.runtime.name != "local-sync":
                    continue
                if target.compile.compiler.name not in _COMPILERS:
                    continue
                module = target.compile.module.name
                others = [
                    run for run in one.targets if isinstance(run, RunTarget) and run.compile.module.name == module
                ]
                returns = declared.registry.check_rewriter(target.compile.kind) is not None
                by_tool = replace(
                    target,
                    runtime=replace(target.runtime, name="tool", run_under=("env",)),
                    compile=replace(target.compile, returns_checks=returns),
                )
                ended = []
                for at, way in enumerate((target, by_tool)):
                    start = time.perf_counter()
                    try:
                        ended.append(_endings(engine, way, references, others))
                    except (RetargetError, UnavailableError) as error:
                        ended.append({"": f"{type(error).__name__}: {error}"})
                    seconds[at] += time.perf_counter() - start
                here, there = ended
                for case in dict.fromkeys((*here, *there)):
                    alike = here.get(case) == there.get(case)
                    counts[target.compile.kind, alike, here.get(case) == "passed"] += 1
                    if not alike:
                        sys.stdout.write(f"{one.suite.name}: {target.name}: {case}\n  here: {here.get(case)}\n")
                        sys.stdout.write(f"  tool: {there.get(case)}\n")
                        sys.stdout.flush()
        references.close()
    for kind in sorted({kind for kind, *_ in counts}):
        passed, failed = counts[kind, True, True], counts[kind, True, False]
        differ = sum(number for (of, alike, _), number in counts.items() if of == kind and not alike)
        sys.stdout.write(f"{kind}: {passed} cases passed both ways, {failed} failed alike, {differ} differ\n")
    sys.stdout.write(
        f"seconds, with what was compiled: {seconds[0]:.0f} in the process, {seconds[1]:.0f} by the tool\n"
    )
    return 1 if any(not alike for _, alike, _ in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
