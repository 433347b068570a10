"""The commands that do by hand what a target did, to be pasted into a shell."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec

from msgspec.structs import replace

from retarget.extension import ExtensionError, RunPlan, UnavailableError
from retarget.extension.cases import RUN_CASE, run_case_plan
from retarget.extension.registry import EXTENSIONS_VARIABLE, Registry, named_extensions
from retarget.model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig
from retarget.model.names import MAJORITY
from retarget.model.outcomes import Artifact, CaseOutcome
from retarget.session.limits import TIMEOUTS, Timeouts
from retarget.support.errors import RetargetError

COMPARE = "retarget"
"""The command of this project that compares two configs."""

SHOWN_RUNS = 3
"""How many failed cases get a command of their own, unless all are requested."""


_LinesT = ParamSpec("_LinesT")


def _or_why(lines: Callable[_LinesT, list[str]]) -> Callable[_LinesT, list[str]]:
    """Give a comment for lines that an extension fails to give: the failure above them is shown all the same."""

    @functools.wraps(lines)
    def given(*arguments: _LinesT.args, **named: _LinesT.kwargs) -> list[str]:
        try:
            return lines(*arguments, **named)
        except ExtensionError as error:
            return [f"# no command: {error}"]

    return given


class Commands:
    """Words commands for a session that was started in `folder`, with `extensions` in addition to those installed
    and those that `RETARGET_EXTENSIONS` names."""

    heading = "to reproduce this by hand:"
    """The line in front of the commands."""

    def __init__(
        self,
        *,
        registry: Registry,
        folder: Path,
        compiles: bool,
        extensions: Sequence[str] = (),
        toolchains: Mapping[str, Path | None] | None = None,
        timeouts: Timeouts = TIMEOUTS,
    ) -> None:
        """`toolchains` are those taken from elsewhere than declared. `timeouts` of compiles and of runs are in seconds,
        for targets that declare none."""
        self._registry = registry
        self._toolchains = toolchains or {}
        self._timeouts = timeouts
        self._extensions = os.pathsep.join(named_extensions(extensions))
        self._folder = folder
        self._compiles = compiles
        self._temporary = Path(tempfile.gettempdir())

    @staticmethod
    def program(name: str) -> str:
        """Return how a shell finds a tool in which nothing was set up: by its name where it does, else in full."""
        beside = Path(sys.executable).parent / name
        full = shutil.which(name) or (str(beside) if beside.is_file() else None)
        path = Path(name)
        if full is None or shutil.which(path.name, path="/usr/local/bin:/usr/bin:/bin") == full:
            return path.name if full is not None and path.is_absolute() else name
        return full

    @_or_why
    def compile(self, target: CompileTarget, *, late: bool = False) -> list[str]:
        """The lines that compile a target to a file in the folder for temporary files; one that is `late` is ended by
        the clock again."""
        compiler, output = self._registry.compiler(target.compiler.compiler), self._output(target)
        lines = []
        if target.returns_checks and (rewriter := self._registry.check_rewriter(target.kind)) is not None:
            rewritten = output.with_suffix(target.module.path.suffix)
            lines.append(self._line((), rewriter.return_checks_command(target.module.path, rewritten)))
            target = replace(target, module=replace(target.module, path=rewritten))
        argv = compiler.reproduce(target, target.flags, output)
        limit, env = (
            self._timeouts.compile if target.timeout is None else target.timeout,
            self._environment(target.compiler, argv),
        )
        lines.append(self._line(env, _timed(argv, limit) if late else argv))
        return [*lines, self._again(target, f"--compile-timeout={limit:g}")] if late else lines

    @_or_why
    def check(self, target: CompileTarget) -> list[str]:
        """The lines that compile a target and judge what came out."""
        compiler = self._registry.compiler(target.compiler.compiler)
        output = self._output(target)
        stem = output.with_suffix("")
        compile_argv = compiler.reproduce(target, target.flags, output)
        written = next((Path(word) for word in reversed(compile_argv) if Path(word).with_suffix("") == stem), output)
        argv = _check_command(target, written)
        return [
            self._line(self._environment(target.compiler, compile_argv), compile_argv),
            self._line(tuple(self._named_extensions(argv).items()), argv),
        ]

    @_or_why
    def run(
        self,
        target: RunTarget,
        artifact: Artifact | None = None,
        cases: Sequence[CaseOutcome] = (),
        limit: int = SHOWN_RUNS,
        *,
        function: str = "",
        late: bool = False,
    ) -> list[str]:
        """The lines that compile a target and run the first `limit` of these cases; none where no tool does.

        The artifact is run where the session does not compile. `function` is written where there are no cases. A run
        that is `late` is ended by the clock again.
        """
        lines = self.compile(target.compile) if self._compiles or artifact is None else []
        path = self._output(target.compile) if self._compiles or artifact is None else Path(artifact.path)
        seconds = self._timeouts.run if target.timeout is None else target.timeout
        late = late or any(case.failure is not None and case.failure.timed_out for case in cases[:limit])
        is_here, by_tool = target.runtime.host is None, self._registry.runs_by_tool(target.runtime)
        for case in (*cases[:limit],) or (None,):
            variables, cwd, read = dict(target.runtime.env if is_here else ()), None, None
            if case is not None and case.command and artifact is not None:
                argv = [word.replace(artifact.path, str(path)) for word in case.command]
                if not is_here:  # there the artifact is by its content; what was compiled now is read
                    pushed, read = f"--module=store/{artifact.digest}{path.suffix}", path
                    argv = [word.replace(pushed, "--module=-") for word in argv]
            elif case is not None and case.agree_with == MAJORITY and self._compiles:
                lines.append(self._again(target, f"--case={case.name}"))
                continue
            elif case is not None and case.agree_with and self._compiles and not target.runtime.run_under:
                lines.append(self._compared(target, case.agree_with))
                continue
            else:
                name, called = ("", function) if case is None else (case.name, case.function or case.name)
                plan = _plan_by_hand(self._registry, target, path, case=name, function=called)
                if plan is None:
                    continue
                own = self._environment(target.runtime, plan.argv)
                variables = {**self._named_extensions(plan.argv), **dict(own), **dict(plan.env)}
                agree = [f"--agree={target.compile.agree}"] if target.compile.agree and RUN_CASE in plan.argv else []
                argv = [*target.runtime.run_under, Commands.program(plan.argv[0]), *plan.argv[1:], *agree]
                cwd, read = plan.cwd, plan.stdin
            is_late = late if case is None or case.failure is None else case.failure.timed_out
            if is_late and not is_here:  # the shell's clock ends the connection, not what runs there
                continue
            line = self._line(tuple(variables.items()), _timed(argv, seconds) if is_late else argv, cwd)
            lines.append(line if read is None else f"{line} < {shlex.quote(str(read))}")
        is_counted = any(one is not None for one in target.runtime.used)
        if (
            late or by_tool or is_counted
        ):  # a tool compares nothing, a run judges no counts, the shell's clock says nothing
            given = [] if any(case.agree_with for case in cases[:limit]) else [f"--artifact={path}"]
            given += [f"--case={case.name}" for case in cases[:limit]]
            lines.append(self._again(target, *given, *([f"--run-timeout={seconds:g}"] if late else ())))
        return list(dict.fromkeys(lines))

    def _again(self, target: CompileTarget | RunTarget, *options: str) -> str:
        """The line that tries a target as the session did."""
        compiled = target.compiled
        toolchains = (f"--retarget-toolchain={name}={path or ''}" for name, path in self._toolchains.items())
        argv = (COMPARE, "run", f"{compiled.folder / 'suite.toml'}::{compiled.suite}::{target.name}")
        return self._line(
            tuple(self._named_extensions(argv).items()), (*argv, *options, *toolchains, "--ignore-expectations")
        )

    def _compared(self, target: RunTarget, other: str) -> str:
        """The line that compares with another compiler config, for a case that is to agree with it."""
        compiled = target.compile
        suite = [compiled.module.name, str(compiled.folder)] if compiled.module.entry else [str(compiled.module.path)]
        configs = f"{compiled.compiler.name}/{target.runtime.name},{other}"
        argv = (COMPARE, "compare", *suite, "--configs", configs)
        return self._line(tuple(self._named_extensions(argv).items()), argv)

    def script(self, lines: Sequence[str]) -> tuple[str, ...]:
        """All commands to paste: the lines, in the folder that they are for."""
        return (f"cd {shlex.quote(str(self._folder))}", *lines) if lines else ()

    def _output(self, target: CompileTarget) -> Path:
        suffix = self._registry.compiler(target.compiler.compiler).artifact_suffix
        return self._temporary / (target.name.replace("/", "-") + suffix)

    def _line(self, env: Sequence[tuple[str, str]], argv: Sequence[str], cwd: Path | None = None) -> str:
        rest = argv[1:] if cwd is not None else [self._relative(word) for word in argv[1:]]
        words = [Commands.program(argv[0]), *rest]
        line = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env), shlex.join(words)])
        return line if cwd is None else f"(cd {shlex.quote(self._relative(str(cwd)))} && {line})"

    def _environment(self, config: CompilerConfig | RuntimeConfig, argv: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """The config's variables, and what selects its toolchain for a command that imports it."""
        try:
            return self._registry.worker_environment(config) if argv[1:2] == ("-m",) else config.env
        except (UnavailableError, RetargetError):  # reported where the target is not run
            return config.env

    def _named_extensions(self, argv: Sequence[str]) -> dict[str, str]:
        """The project's own tools load the extensions of the session, too."""
        ours = (RUN_CASE in argv or argv[0] == COMPARE) and self._extensions != os.environ.get(EXTENSIONS_VARIABLE, "")
        return {EXTENSIONS_VARIABLE: self._extensions} if ours else {}

    def _relative(self, word: str) -> str:
        """A path below that folder is written relative to it, so that it reads as no option; what is below the
        temporary folder goes without."""
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        path = Path(value)
        if not path.is_absolute() or not path.is_relative_to(self._folder) or path.parent == self._temporary:
            return word
        short = str(path.relative_to(self._folder))
        return f"{option}{equals}{'./' if short.startswith('-') and not option else ''}{short}"


def _timed(argv: Sequence[str], seconds: float) -> Sequence[str]:
    return ("timeout", f"{seconds:g}", Commands.program(argv[0]), *argv[1:])


def _plan_by_hand(registry: Registry, target: RunTarget, artifact: Path, *, case: str, function: str) -> RunPlan | None:
    """Return how a case is run by hand, without `run_under`: with the tool of its kind, or else that of the driver, or
    else with this package's. Runs by a tool are those of the driver, and other runs behind `run_under` this package's.

    Raises `RetargetError` for a driver that is not registered.
    """
    kind, config, module = target.compile.kind, target.runtime, target.compile.module
    driver, loader = registry.driver(config.driver), registry.case_loaders.get(kind)
    by_tool = registry.runs_by_tool(config)
    plan = None
    if loader is not None and loader.overrides("run_case_outside") and not config.run_under and not by_tool:
        plan = loader.run_case_outside(config, artifact, module, target.compile.folder, case)
    elif by_tool or not config.run_under:
        plan = driver.run_outside(config, artifact, function, kind)
    if plan is not None or by_tool or loader is None:
        return plan
    folder, case = target.compile.folder, case or function
    return run_case_plan(kind=kind, config=config, artifact=artifact, module=module, folder=folder, case=case)


def _check_command(target: CompileTarget, artifact: Path) -> tuple[str, ...]:
    """Return the command that judges an artifact of a kind that runs nothing."""
    others = [name for name in target.known_compilers if name != target.compiler.name]
    return (
        sys.executable,
        "-m",
        RUN_CASE,
        f"--kind={target.kind}",
        f"--compilers={','.join([target.compiler.name, *others])}",
        f"--tags={','.join(target.tags)}",
        f"--artifact={artifact}",
        str(target.module.path),
    )
