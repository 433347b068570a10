"""Runs one node test by hand: `python -m retarget_onnx.run_case --driver=… --module=… …/test_abs/cases.json`.

    --driver=NAME       a driver of any installed extension: local-sync, vulkan, opencl, …
    --device=DEVICE     as in `runtime_config.devices`; repeat for several. The driver's default device if left out
    --module=FILE       the artifact
    --case=NAME         the data set to run; all if left out

Any other --name=value is a flag of the runtime. Results are judged as in a run of the suite. Exit status: 0 if every
case passed, 1 if one did not, 2 if the command line is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.errors import RetargetError
from retarget.extension import Case, CaseRequest, DriverError, UnavailableError
from retarget.extensions import load_extensions
from retarget.messages import RunModule
from retarget.model import Origin, RuntimeConfig
from retarget.outcomes import Failure, RunOutcome
from retarget.run.inside import run_inside

from .loader import OnnxBackendLoader

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a line per case, and for each failure what differs. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m retarget_onnx.run_case", description="Run the cases of one ONNX node test."
    )
    parser.add_argument("--driver", required=True, metavar="NAME", help="such as local-sync, vulkan, opencl")
    parser.add_argument("--device", action="append", default=[], metavar="DEVICE", help="device; repeat for several")
    parser.add_argument("--module", required=True, type=Path, metavar="FILE", help="the artifact")
    parser.add_argument("--case", default="", metavar="NAME", help="data set to run (all if left out)")
    parser.add_argument("cases", type=Path, metavar="CASES", help="the test's cases.json")
    options, flags = parser.parse_known_args(argv)
    stray = [flag for flag in flags if not flag.startswith("--")]
    if stray:
        parser.error(f"unexpected argument {stray[0]!r}")
    config = RuntimeConfig(
        name="run_case",
        driver=options.driver,
        devices=tuple(options.device),
        flags=tuple(flags),
        origin=Origin(file=Path(__file__), key_path=""),
    )
    try:
        outcome = _run(config, options.module, options.cases, options.case)
    except (DriverError, UnavailableError) as error:
        _tell(f"error: {error}", error.hint)
        return 1
    except RetargetError as error:
        _tell(f"error: {error}", "")
        return 1
    return _report(outcome)


class _Chosen:
    """The cases of that name alone; all where it is empty. A `CaseLoader` for this one run."""

    def __init__(self, case: str) -> None:
        self.kind = OnnxBackendLoader.kind
        self._case = case

    def load(self, request: CaseRequest) -> Sequence[Case]:
        cases = OnnxBackendLoader().load(request)
        chosen = [case for case in cases if self._case in {"", case.name}]
        if not chosen:
            msg = f"there is no case {self._case!r}; there are: {', '.join(case.name for case in cases)}"
            raise RetargetError(msg)
        return chosen


def _run(config: RuntimeConfig, artifact: Path, cases: Path, case: str) -> RunOutcome:
    message = RunModule(
        config=config,
        artifact=artifact,
        digest="",
        kind=OnnxBackendLoader.kind,
        module=cases.parent.name,
        source=cases,
        data=(cases,),
        entry=cases.parent.name,
        folder=cases.parent,
        compiler="",
    )
    device = load_extensions().driver(config.driver).open(config)
    try:
        return run_inside(device, _Chosen(case), message, lambda _: None, str)
    finally:
        device.close()


def _report(outcome: RunOutcome) -> int:
    for case in outcome.cases:
        failure = case.failure
        sys.stdout.write(f"{case.name}: {'passed' if failure is None else _words(failure)}\n")
        sys.stdout.writelines(f"{mismatch.report}\n" for mismatch in case.mismatches)
    if outcome.failure is not None and not outcome.cases:
        _tell(f"error: {_words(outcome.failure)}", outcome.failure.hint)
    return 0 if outcome.failure is None else 1


def _words(failure: Failure) -> str:
    return f"failed at {failure.stage.value}: {failure.text or failure.summary}"


def _tell(text: str, hint: str) -> None:
    sys.stderr.write(f"{text}\n{f'hint: {hint}' if hint else ''}".rstrip("\n") + "\n")


if __name__ == "__main__":
    sys.exit(main())
