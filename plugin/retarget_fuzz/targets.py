"""The configs that run the programs, and how a program fails on each: compiled and run by the engine."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Failure, Module, Observation, RunTarget, RuntimeConfig
from retarget.session import Engine, RuleSet, Selection
from retarget.support import RetargetError, first_line, strip_colour

from retarget_fuzz.suites import write_module

if TYPE_CHECKING:
    from retarget_fuzz.programs.program import Program

COUNTED = ("runs", "failed", "known by rules", "known findings", "not repeated", "no verdict")
VAGUE = frozenset({"compare", "crash", "timeout"})
"""Stages of which the signature says little: what a program exercises is part of what was found."""
_SUITE = "fuzz"
_FRAME = re.compile(r"^ *\d+ +(\S+) +0x([0-9a-f]+)$", re.MULTILINE)
"""A frame of a stack dump without names: its library and address."""


class Config(Struct, frozen=True, kw_only=True):
    """A compiler config with a runtime config. `target` is one that is declared with them, `ruled` are those of each
    suite, with the suite's rules."""

    target: RunTarget
    runtime: RuntimeConfig
    ruled: Sequence[tuple[RuleSet, RunTarget]]

    @property
    def compiler(self) -> str:
        """The name of the compiler config."""
        return self.target.compile.compiler.name

    @property
    def name(self) -> str:
        """Both names, as in those of targets."""
        return f"{self.compiler}_{self.runtime.name}"

    def compiles(self, module: Module) -> CompileTarget:
        """Return the target that compiles a module with nothing but the config's flags."""
        compiled, folder = self.target.compile, module.path.parent
        name, flags = f"{module.name}_{self.compiler}", compiled.compiler.flags
        plain = replace(compiled, name=name, suite=_SUITE, kind="cases", folder=folder, module=module, flags=flags)
        return replace(plain, returns_checks=False, timeout=compiled.compiler.timeout, devices=None)

    def runs(self, compiled: CompileTarget) -> RunTarget:
        """Return the target that runs it, wherever the runtime config can."""
        name, runtime = f"{compiled.name}_{self.runtime.name}", self.runtime
        plain = replace(self.target, name=name, compile=compiled, timeout=runtime.timeout, devices=None)
        return replace(plain, requires=runtime.requires)

    def why_not(self, engine: Engine) -> str:
        """Return why this machine cannot run programs on it; nothing where it can. Raises `RetargetError`."""
        if len(self.runtime.devices) > 1 or self.runtime.used:
            return "a program is for one device"
        try:
            engine.check_available(self.runs(self.compiles(Module(name=_SUITE, path=Path(_SUITE)))))
        except UnavailableError as error:
            return first_line(str(error))
        return ""

    def excuses(self, failed: Failed, engine: Engine) -> bool:
        """Whether a rule that is in force where the config is declared knows a failure by its diagnostic, of whatever
        module."""
        if failed.way.stage in VAGUE:
            return False
        traits = tuple(info.traits for info in engine.devices(self.runtime))
        ruled = [(rules, target.compile if failed.at_compile else target) for rules, target in self.ruled]
        return any(rules.excuses(replace(target, devices=traits), failed.way) for rules, target in ruled)


def configs_of(selection: Selection) -> tuple[Config, ...]:
    """Return the configs of the selected run targets, each once, in order. Raises `RetargetError` where two of one name
    differ."""
    found: dict[str, Config] = {}
    for one in selection.suites:
        rules = RuleSet.of(one.suite, selection.registry)
        targets = [target for target in one.selected if isinstance(target, RunTarget)]
        own = [Config(target=target, runtime=target.runtime, ruled=((rules, target),)) for target in targets]
        for name, config in {config.name: config for config in own}.items():
            known = found.setdefault(name, config)
            if (known.target.compile.compiler, known.runtime) != (config.target.compile.compiler, config.runtime):
                msg = f"found several configs {name} below the paths, which differ; name the folder of one"
                raise RetargetError(msg)
            if known is not config:
                found[name] = replace(known, ruled=(*known.ruled, *config.ruled))
    return tuple(found.values())


class Failed(Struct, frozen=True, kw_only=True):
    """How a program fails on a config: its only case, or its compile. `place` is where a library crashed, if its stack
    dump says that: addresses in it, from the first one."""

    config: Config
    way: Observation
    summary: str
    place: str = ""
    at_compile: bool = False
    no_verdict: bool = False

    @classmethod
    def of(cls, config: Config, failure: Failure, *, at_compile: bool) -> Failed:
        """Return what a failure says."""
        summary, way = first_line(strip_colour(failure.summary)), failure.observation
        frames = [(library, int(address, 16)) for library, address in _FRAME.findall(strip_colour(failure.text))]
        place = " ".join(f"{one - frames[0][1]:x}" for library, one in frames if library == frames[0][0])
        known = {"at_compile": at_compile, "no_verdict": failure.no_verdict}
        return cls(config=config, way=way, summary=summary, place=place if failure.signal else "", **known)


class Runner:
    """Runs programs on configs. What came of each is kept until `forget`. `counts` says what happened how often, by
    config and `COUNTED`, `inconclusive` why a config first gave no verdict."""

    def __init__(self, engine: Engine, configs: Sequence[Config], folder: Path) -> None:
        """`folder` takes the programs' files while they are used."""
        self.engine = engine
        self.configs = tuple(configs)
        self._folder = folder
        self._modules: dict[str, Module] = {}
        self._artifacts: set[Path] = set()
        self._known: dict[tuple[str, str], Failed | None] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.inconclusive: dict[str, str] = {}

    def submit(self, programs: Iterable[Program]) -> None:
        """Have programs compiled ahead, for all configs."""
        self.engine.submit(config.compiles(self._module(program)) for program in programs for config in self.configs)

    def failures(self, program: Program, configs: Sequence[Config] = ()) -> tuple[Failed, ...]:
        """Return how a program fails on some configs, or on all. Raises `UnavailableError` and `RetargetError`."""
        found = (self._outcome(program, config) for config in configs or self.configs)
        return tuple(one for one in found if one is not None and not one.no_verdict)

    def passes(self, program: Program) -> bool:
        """Whether a program fails on no config, and gives a verdict on each."""
        return all(self._outcome(program, config) is None for config in self.configs)

    def fails_again(self, program: Program, failed: Failed) -> bool:
        """Whether a program, once more compiled if that failed, and run, fails in the same way."""
        compiled = failed.config.compiles(self._module(program))
        if failed.at_compile:
            self.engine.compile_again(compiled)
        again = self._run(compiled, failed.config)
        return again is not None and not again.no_verdict and again.way == failed.way

    def statistics(self, program: Program) -> Mapping[str, int]:
        """Return how many dispatches each compiler config makes of a program, where its compiler says so."""
        found = {config.compiler: config.compiles(self._module(program)) for config in self.configs}
        said = {name: self.engine.program_statistics(target) for name, target in found.items()}
        return {name: one.dispatches for name, one in said.items() if one is not None}

    def forget(self) -> None:
        """Remove the programs' files and artifacts, of which an hour makes gigabytes, and what came of them."""
        for path in self._artifacts:
            path.unlink(missing_ok=True)
        for module in self._modules.values():
            shutil.rmtree(module.path.parent, ignore_errors=True)
        self._artifacts.clear()
        self._modules.clear()
        self._known.clear()

    def _module(self, program: Program) -> Module:
        if program.digest not in self._modules:
            self._modules[program.digest] = write_module(self._folder / program.digest, program)
        return self._modules[program.digest]

    def _outcome(self, program: Program, config: Config) -> Failed | None:
        key = program.digest, config.name
        if key not in self._known:
            self._known[key] = self._run(config.compiles(self._module(program)), config)
            self.counts[config.name, "runs"] += 1
        return self._known[key]

    def _run(self, compiled: CompileTarget, config: Config) -> Failed | None:
        outcome = self.engine.compile(compiled)
        failure, at_compile = outcome.failure, outcome.artifact is None
        if outcome.artifact is not None:
            self._artifacts.add(Path(outcome.artifact.path))
            failure = self.engine.run(config.runs(compiled), outcome.artifact).failure
        if failure is None:
            return None
        failed = Failed.of(config, failure, at_compile=at_compile)
        if failed.no_verdict:
            self.counts[config.name, "no verdict"] += 1
            self.inconclusive.setdefault(config.name, failed.summary)
        return failed
