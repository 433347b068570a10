"""Runs the cases of one module by hand: `python3 -m retarget.worker.run_case --kind=… --driver=… --artifact=… FILE…`.

The first FILE is the module, the others are the files of its cases; a kind whose cases are the artifact's functions,
such as check, needs none. An option that `--help` does not list is a flag of the runtime. Results are judged as in a
run of the suite; a case that agrees with another compiler config fails where the results of that config are not there.
A kind that runs nothing, such as filecheck, judges the artifact itself: it takes `--compilers` and `--tags` in place of
`--driver` and `--device`.

Exit status: 0 if every case passed, 1 if one did not, 2 if the command line is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from retarget.extension import CaseLoader, DriverError, UnavailableError
from retarget.extension.registry import Registry, load_extensions
from retarget.model import CompilerConfig, CompileTarget, Module, Origin, RunTarget, RuntimeConfig
from retarget.model.names import is_one_of, selected_cases
from retarget.model.outcomes import Failure, RunOutcome, first_failure
from retarget.support.errors import RetargetError, did_you_mean
from retarget.worker.artifact import read_artifact
from retarget.worker.messages import AGREEING, OPENED, UNAVAILABLE, RunModule, check_artifact, checked_outcome

_ORIGIN = Origin(file=Path(__file__), key_path="")
"""Of what no file declares."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run, and print a line per case and for each failure what differs. Return the exit status."""
    program = "python3 -m retarget.worker.run_case"
    parser = argparse.ArgumentParser(prog=program, description="Run the cases of one module.")
    parser.add_argument("--kind", required=True, metavar="KIND", help="case loader, such as cases")
    parser.add_argument(
        "--driver", default="", metavar="NAME", help="local-sync, vulkan, …; that of the first device if left out"
    )
    parser.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="DEVICE",
        help="as in runtime_config.devices; repeat for several",
    )
    parser.add_argument("--sanitize", action="store_true", help="on a checker of memory accesses")
    parser.add_argument("--artifact", required=True, type=Path, metavar="FILE", help="what the module compiled to")
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="the suite's, which data may not leave; the module's own if left out",
    )
    parser.add_argument("--entry", default="", metavar="NAME", help="program of the file, where it describes several")
    parser.add_argument(
        "--case", action="append", default=[], metavar="NAME", help="case or glob; repeat for several (default: all)"
    )
    parser.add_argument("--compiler", default="", metavar="NAME", help="compiler config that the artifact is of")
    parser.add_argument("--runtime", default="run-case", metavar="NAME", help="runtime config, as reports name it")
    parser.add_argument(
        "--agree", default="", metavar="NAME", help="what cases agree with that say nothing: module_test_suite.agree"
    )
    parser.add_argument(
        "--reference", action="append", default=[], metavar="A=DIR", help="recorded results of config A, or A/RUNTIME"
    )
    for option, what in (("--compilers", "its compiler config, then the others"), ("--tags", "the target's tags")):
        parser.add_argument(option, default=(), type=_words_of, metavar="A,B,…", help=f"where nothing is run: {what}")
    parser.add_argument("--say-opened", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="the module, then the files of its cases")
    options, flags = parser.parse_known_args(argv)
    references = [one.partition("=") for one in options.reference]
    if not all(map(all, references)):
        parser.error("argument --reference: expected the name of a compiler config, '=' and a folder")
    source, *data = (path.absolute() for path in options.files or [options.artifact])
    folder = source.parent if options.folder is None else options.folder.absolute()
    if not source.is_relative_to(folder):
        parser.error(f"{source} is not in --folder={folder}")
    name = source.relative_to(folder).with_suffix("").as_posix()
    driver = options.driver or next((one.partition("://")[0] for one in options.device if "://" in one), "")
    config = RuntimeConfig(
        name=options.runtime,
        driver=driver,
        devices=tuple(options.device),
        flags=tuple(flags),
        sanitize=options.sanitize,
        origin=_ORIGIN,
    )
    try:
        registry = load_extensions()
        loader = registry.case_loader(options.kind)
        checker = registry.artifact_checker(options.kind)
        if not (driver if checker is None else options.compilers):
            parser.error(f"the following arguments are required: {'--driver' if checker is None else '--compilers'}")
        if not options.files and (checker is not None or loader.overrides("find_modules")):
            parser.error("the following arguments are required: FILE")
        compilers = options.compilers
        compiled = CompileTarget(
            name="run_case",
            suite="",
            kind=options.kind,
            folder=folder,
            module=Module(name=name, path=source, data=tuple(data), entry=options.entry),
            compiler=CompilerConfig(
                name=options.compiler if checker is None else compilers[0], compiler="", origin=_ORIGIN
            ),
            flags=(),
            timeout=None,
            tags=options.tags,
            agree=options.agree,
            known_compilers=compilers,
        )
        message = RunModule(
            target=RunTarget(name="run_case", compile=compiled, runtime=config, timeout=None, tags=()),
            artifact=options.artifact,
            digest="",
            only=tuple(options.case),
            references=tuple((one, Path(folder)) for one, _, folder in references),
        )
        if checker is None:
            outcome = _run(registry, loader, message, says_opened=options.say_opened)
        else:
            outcome = _check(checker, message)
        if outcome.names:
            _expect_cases(outcome.names, message.only, "failed at load: " if checker is None else "")
    except (DriverError, UnavailableError, RetargetError) as error:
        word = UNAVAILABLE if options.say_opened and isinstance(error, UnavailableError) else "error"
        _report_error(f"{word}: {error}", getattr(error, "hint", ""))
        return 1
    return _report(outcome)


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


def _check(checker: CaseLoader, message: RunModule) -> RunOutcome:
    artifact = read_artifact(message.artifact, message.digest)
    outcome = checked_outcome(check_artifact(checker, message.target.compile, artifact))
    cases = tuple(selected_cases(outcome.cases, message.only))
    return replace(outcome, cases=cases, failure=first_failure(cases)) if cases else outcome


def _run(registry: Registry, loader: CaseLoader, message: RunModule, *, says_opened: bool) -> RunOutcome:
    from retarget.worker.child.run_in_process import run_in_process  # it imports NumPy

    config = message.target.runtime
    driver = registry.driver(config.driver)
    for other in config.drivers:
        registry.driver(other)
        if fault := registry.not_beside(config.driver, other):
            raise RetargetError(fault)
    with closing(driver.open(config)) as device:
        if says_opened:
            sys.stdout.write(f"{OPENED}\n")
            sys.stdout.flush()
        return run_in_process(driver, device, loader, message, lambda _: None, read_output=str)


def _expect_cases(names: Sequence[str], wanted: Sequence[str], stage: str) -> None:
    """Raise `RetargetError` for a name or glob that selects no case."""
    for one in wanted:
        if not any(is_one_of(name, (one,)) for name in names):
            msg = f"{stage}there is no case {one!r}; there are: {', '.join(names)}{did_you_mean(one, names)}"
            raise RetargetError(msg)


def _report(outcome: RunOutcome) -> int:
    for case in outcome.cases:
        failure = case.failure
        sys.stdout.write(f"{case.name}: {'passed' if failure is None else _words(failure)}\n")
        for mismatch in case.mismatches:
            sys.stdout.writelines(f"    {line}\n" for line in mismatch.report.splitlines())
        if case.agreeing:
            sys.stdout.write(f"    {AGREEING}: {' '.join(case.agreeing)}\n")
    if outcome.failure is not None and not outcome.cases:
        _report_error(f"error: {_words(outcome.failure)}", outcome.failure.hint)
    return 0 if outcome.failure is None else 1


def _words(failure: Failure) -> str:
    return f"failed at {failure.stage.value}: {failure.text or failure.summary}"


def _report_error(text: str, hint: str) -> None:
    sys.stderr.write(f"{text}\n{f'hint: {hint}' if hint else ''}".rstrip("\n") + "\n")


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a runtime's library may fail when it is unloaded, with long messages
