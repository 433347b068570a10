"""`retarget explain TARGET`: where everything about one target comes from."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from retarget.cli.support import add_path_arguments, add_toolchain_argument, read_declared
from retarget.expect.matching import GoldenAssignment, RuleSet
from retarget.expect.verdict import TargetRules
from retarget.extension import CompilerError, UnavailableError
from retarget.extension.compilers import part_lines
from retarget.extension.registry import Registry, named_extensions
from retarget.model import (
    CompilerConfig,
    CompileTarget,
    Expectation,
    Golden,
    Origin,
    Requirement,
    RunTarget,
    RuntimeConfig,
    Suite,
    Target,
    TargetConfig,
)
from retarget.model.locations import SourceLocations
from retarget.profiles.requirements import Answer
from retarget.session.commands import Commands
from retarget.session.compile.resolution import describe_build
from retarget.session.engine import Engine
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.targets.expansion import active_overrides, excluding_override, run_target_name
from retarget.targets.selection import tag_sources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget explain`."""
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        help="the name of a target, or its node id, as `retarget list` and pytest show them; not needed with -m or -k",
    )
    add_path_arguments(parser, expressions=True)
    add_toolchain_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what is known of the targets of this name, or of those that the expressions select. Returns 0.

    Raises `DiagnosticsError`, `RetargetError`, and `argparse.ArgumentError` for a name that no target has and
    expressions that select nothing.
    """
    named, paths = str(arguments.target), list(arguments.path)
    is_expression = bool(arguments.mark or arguments.keyword)
    if is_expression and named and Path(named.partition("::")[0]).exists():  # `explain -m vulkan FOLDER`
        named, paths = "", [named] if paths == ["."] else [named, *paths]
    if not named and not is_expression:
        msg = "expected the name of a target (`retarget list` shows them all), or -m or -k with an expression"
        raise argparse.ArgumentError(None, msg)
    of_suite, _, name = named.rpartition("::")
    declared = read_declared(arguments, paths)
    extensions = arguments.retarget_extension
    engine = Engine(registry=declared.registry, extensions=extensions)
    explainer = _Explainer(
        registry=declared.registry, at=SourceLocations().location, extensions=extensions, engine=engine
    )
    suites = [one for one in declared.suites if _is_named(one.suite, of_suite)]
    with engine:
        found = [
            "\n".join(explainer.target(one.suite, target))
            for one in suites
            for target in one.selected
            if name in {"", target.name}
        ]
    if not found and not is_expression:
        found = [
            "\n".join(explainer.excluded(one.suite, name, by)) for one in suites if (by := _excluding(one.suite, name))
        ]
    if not found:
        names = [target.name for one in suites or declared.suites for target in one.targets]
        raise argparse.ArgumentError(None, _nothing(arguments, named, paths, names, is_suite=bool(suites)))
    sys.stdout.write("\n\n".join(found) + "\n")
    return 0


def _nothing(
    arguments: argparse.Namespace, named: str, paths: Sequence[str], names: Sequence[str], *, is_suite: bool
) -> str:
    """Say that there is no such target."""
    of_suite, _, name = named.rpartition("::")
    where = ", ".join(paths)
    selecting = [f"-{key} {text!r}" for key, text in (("m", arguments.mark), ("k", arguments.keyword)) if text]
    if selecting:
        what = f"target {name!r} selected by" if name in names else "target selected by"
        return f"found no {what} {' and '.join(selecting)} in {where}; `retarget list` shows all"
    hint = did_you_mean(name, names) or "; `retarget list` shows all"
    what = f"target {name!r}" if is_suite or not of_suite else f"suite {of_suite!r}"
    return f"found no {what} in {where}{hint if is_suite else ''}"


def _is_named(suite: Suite, text: str) -> bool:
    """Whether the front of a node id, `folder/suite.toml::name` or nothing, means a suite. Paths start anywhere."""
    file, _, name = text.rpartition("::")
    parts = Path(file).parts
    return name in {"", suite.name} and suite.origin.file.parts[len(suite.origin.file.parts) - len(parts) :] == parts


def _excluding(suite: Suite, name: str) -> Sequence[int]:
    """Return the overrides of a suite that exclude the target `name`."""
    found: list[int | None] = []
    for module in suite.modules:
        if not name.startswith(f"{module.name}_"):
            continue
        for target in suite.targets:
            for compiler in target.compilers:
                path = (target.name, compiler.name)
                if module.target(compiler.name) == name:
                    found.append(excluding_override(suite, module.name, path))
                found += [
                    excluding_override(suite, module.name, (*path, runtime.name))
                    for runtime in target.runtimes
                    if run_target_name(module.name, compiler.name, runtime.name) == name
                ]
    return [index for index in dict.fromkeys(found) if index is not None]


class _Explainer(Struct, frozen=True, kw_only=True):
    registry: Registry
    at: Callable[..., str]
    """Says where a declaration is, such as `suites/suite.toml:3`."""
    extensions: Sequence[str]
    engine: Engine
    builds: dict[CompilerConfig | RuntimeConfig, str] = field(default_factory=dict)

    def excluded(self, suite: Suite, name: str, overrides: Sequence[int]) -> Iterator[str]:
        yield f"{name} is taken out of suite {suite.name}"
        for index in overrides:
            override = suite.overrides[index]
            yield f"  by override      {self.at(suite.origin, 'module', index)}"
            yield f"  match            {', '.join(override.match)}"
            yield f"  exclude_targets  {', '.join(override.exclude_targets)}"
            yield f"  reason           {override.reason}"

    def target(self, suite: Suite, target: Target) -> Iterator[str]:
        compiled = target.compiled
        runtime = target.runtime
        through = _through(suite, compiled, runtime)
        yield f"{target.name} ({'compile target' if runtime is None else 'run target'})"
        yield from _aligned(self._parts(suite, target, through))
        yield from _section("compiler flags", self._compiler_flags(suite, compiled))
        yield from _section("compiled for", ((line, "") for line in self._compiled_for(compiled)))
        yield from _section("compile devices", compiled.compiler.devices)
        yield from _section("compiler environment", compiled.compiler.env)
        if runtime is not None:
            yield from _section("runtime flags", self._flags(runtime.flags, runtime.flag_origins))
            yield from _section("runtime environment", runtime.env)
            yield from _section(
                "a build of the runtime needs", [*((dep, "") for dep in runtime.deps), *runtime.defines]
            )
        if isinstance(target, RunTarget):
            yield from _section("requirements", self._requirements(target))
        yield from _section("tags", self._tags(suite, target, through))
        yield from _section("expectation", self._expectation(suite, target))
        yield from _section("golden", self._goldens(suite, target))
        yield from _section("builds", self._builds(compiled, runtime))
        yield from _section("by hand", self._by_hand(target))

    def _parts(self, suite: Suite, target: Target, through: Sequence[TargetConfig]) -> Iterator[tuple[str, str, str]]:
        compiled, runtime = target.compiled, target.runtime
        yield "module", compiled.module.name, display_path(compiled.module.path)
        yield "suite", suite.name, self.at(suite.origin)
        yield "kind", suite.kind, self.at(suite.origin, "kind")
        for config in through:
            yield "target config", config.name, self.at(config.origin)
        compiler = compiled.compiler
        yield "compiler config", f"{compiler.name} (compiler {compiler.compiler})", self.at(compiler.origin)
        if runtime is not None:
            roles = [f"{role} = " for role in runtime.roles] or [""] * len(runtime.devices)
            words = [f"driver {runtime.driver}", *map("".join, zip(roles, runtime.devices, strict=True))]
            yield "runtime config", f"{runtime.name} ({', '.join(words)})", self.at(runtime.origin)
        for toolchain in dict.fromkeys(config.toolchain for config in (compiler, runtime) if config is not None):
            if toolchain is not None:
                where = toolchain.path or "the tools on PATH"
                yield "toolchain", f"{toolchain.name} ({where})", self.at(toolchain.origin)
        if runtime is not None:
            if (host := runtime.host) is not None:
                where = " ".join(filter(None, (host.kind, host.address)))
                yield "host", f"{host.name} ({where})", self.at(host.origin)
            if runtime.run_under:
                yield "run under", shlex.join(runtime.run_under), ""
            if runtime.profile:
                yield "profile", Path(runtime.profile).stem, self.at(runtime.origin, "profile")
            yield "compile target", compiled.name, ""
        for index in active_overrides(suite, compiled.module.name):
            match = ", ".join(suite.overrides[index].match)
            yield "override", f"match {match}", self.at(suite.origin, "module", index)
        yield "timeout", "the default" if target.timeout is None else f"{target.timeout:g} s", ""

    def _compiler_flags(self, suite: Suite, compiled: CompileTarget) -> Iterator[tuple[str, str]]:
        compiler = compiled.compiler
        yield from self._flags(compiler.flags, compiler.flag_origins)
        for position, flag in enumerate(suite.compiler_flags):
            yield flag, self.at(suite.origin, "compiler_flags", position)
        for index in active_overrides(suite, compiled.module.name):
            for position, flag in enumerate(suite.overrides[index].flags):
                yield flag, self.at(suite.origin, "module", index, "flags", position)

    def _compiled_for(self, compiled: CompileTarget) -> Iterator[str]:
        """Yield the parts of the compile target that the device profiles give."""
        compiler = self.registry.compilers.get(compiled.compiler.compiler)
        if not compiled.compiler.target_from or compiler is None:
            return
        try:
            yield from part_lines(compiler.target_parts(compiled.compiler, compiled.flags))
        except (CompilerError, RetargetError) as error:
            yield str(error)

    def _flags(self, flags: Sequence[str], origins: Sequence[Origin]) -> Iterator[tuple[str, str]]:
        seen: Counter[Origin] = Counter()
        for flag, origin in zip(flags, origins, strict=True):
            yield flag, self.at(origin, "flags", seen[origin])
            seen[origin] += 1

    def _tags(self, suite: Suite, target: Target, through: Sequence[TargetConfig]) -> Iterable[tuple[str, str]]:
        compiled, runtime = target.compiled, target.runtime
        active = [suite.overrides[index] for index in active_overrides(suite, compiled.module.name)]
        return tag_sources(
            suite=suite,
            compiler=compiled.compiler,
            backends=compiled.backends,
            runtime=runtime,
            driver=self.registry.derived_tags(runtime) if runtime is not None else (),
            targets=through,
            module=[tag for override in active for tag in override.tags],
            own=compiled.module.tags,
        ).items()

    def _expectation(self, suite: Suite, target: Target) -> Iterator[tuple[str, str]]:
        """The rules in force, those for cases last; for a run target, that of its compile target too, which excuses
        both. Where devices decide, all candidates, and which apply to this host's."""
        book = RuleSet.of(suite, self.registry)
        through = [("its compile target: ", target.compile)] if isinstance(target, RunTarget) else []
        for whose, judged in (*through, ("", target)):
            rules = book.rules_for(judged)
            device, here = self._in_force(judged, rules)
            yield from [(f"{whose}{device}", "")] if device else []
            for rule in rules.all:
                outcome = f"flaky, up to {rule.retries} retries" if rule.outcome == "flaky" else rule.outcome
                cases = f"case {' or '.join(rule.cases)}: " if rule.cases else ""
                where = f", expected to {rule.expected}" if rule.stages else ""
                yield f"{whose}{cases}{outcome}{where}", self.at(rule.origin)
                yield from _words_of(rule, "excuses", here if device else None, ("signature", rule.signature))

    def _in_force(self, target: Target, rules: TargetRules) -> tuple[str, frozenset[Origin]]:
        """Return the devices of this host, where they decide on rules, and which are in force on them."""
        if not rules.possible:
            return "", frozenset()
        try:
            devices = self.engine.traits(target)
            here = rules.on(target, devices)
        except (UnavailableError, RetargetError) as error:
            return f"the device is not known: {error}", frozenset()
        of_host = isinstance(target, RunTarget) or target.may_ask_devices
        names = " and ".join(map(str, devices)) or ("not known" if of_host else "none: it is compiled for none here")
        return f"the device is {names}", frozenset(rule.origin for rule in here.all)

    def _goldens(self, suite: Suite, target: Target) -> Iterator[tuple[str, str]]:
        """The golden rules in force."""
        found = GoldenAssignment.assign(suite.goldens, [target])
        for rules in (one.of(target.name) for one in found.assignments):
            device, here = self._in_force(target, rules)
            for golden in (found.goldens[rule.origin] for rule in rules.wholes):
                yield golden.bound, self.at(golden.origin)
                yield from _words_of(golden, "bounds", here if device else None)

    def _requirements(self, target: RunTarget) -> Iterator[tuple[str, str]]:
        """The target's requirements, and whether this host's device meets them."""
        if not target.requires:
            return
        asked: Mapping[Requirement, Answer] = {}
        reason = ""
        try:
            asked = dict(self.engine.answers(target))
        except (UnavailableError, RetargetError) as error:
            reason = f"not asked: {error}"
        for one in target.requires:
            found = f"{asked[one].status}: {asked[one].reason}" if one in asked else reason
            yield f"{one.text} ({self.at(one.origin)})", found

    def _builds(self, compiled: CompileTarget, runtime: RuntimeConfig | None) -> Iterator[tuple[str, str]]:
        """Say which builds compile and run a target here, or why there are none."""
        for sort, config in (("compiler", compiled.compiler), ("runtime", runtime)):
            if config is not None and (build := self.build(config)):
                yield f"{sort.ljust(8)}  {build}", ""

    def build(self, config: CompilerConfig | RuntimeConfig) -> str:
        """Return a config's build, determined once."""
        if config not in self.builds:
            self.builds[config] = describe_build(self.registry, self.extensions, config)
        return self.builds[config]

    def _by_hand(self, target: Target) -> Iterator[tuple[str, str]]:
        compiled = target.compiled
        if compiled.compiler.compiler not in self.registry.compilers:
            return
        if self.registry.module_generator(compiled.kind) is not None:
            manifest = display_path(compiled.module.path)
            yield f"pytest generates the module from {manifest} when it runs the target; a failure names the file", ""
            return
        extensions = named_extensions(self.extensions)
        commands = Commands(registry=self.registry, folder=Path.cwd(), compiles=True, extensions=extensions)
        try:
            if isinstance(target, RunTarget) and target.runtime.driver in self.registry.drivers:
                lines = commands.run(target, function="FUNCTION")  # the artifact knows its functions
            else:
                lines = commands.compile(compiled)
        except CompilerError as error:  # of profiles that no target can be made of
            lines = [f"nothing can be compiled: {error}"]
        yield from ((line, "") for line in lines)


def _words_of(
    rule: Expectation | Golden, does: str, here: Collection[Origin] | None, *own: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield a rule's properties besides its outcome; `here` are those in force, None where no device decides."""
    expired = f" (expired: it {does} nothing any more)" if rule.is_expired else ""
    words = [*own, ("reason", rule.excuse), ("until", f"{rule.until}{expired}" if rule.until is not None else "")]
    if here is not None:
        words += [("when", rule.when), ("here", "in force" if rule.origin in here else "not in force")]
    yield from ((f"  {word.ljust(9)} {text}", "") for word, text in words if text)


def _through(suite: Suite, compiled: CompileTarget, runtime: RuntimeConfig | None) -> tuple[TargetConfig, ...]:
    """Return the target configs that a target is reached through."""
    return tuple(
        target
        for target in suite.targets
        if compiled.compiler in target.compilers and (runtime is None or runtime in target.runtimes)
        if excluding_override(suite, compiled.module.name, [target.name]) is None
    )


def _aligned(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    rows = tuple(rows)
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return (f"  {name:<{first}}  {value:<{second}}  {place}".rstrip() for name, value, place in rows)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = tuple(rows)
    if rows:
        width = max(len(value) for value, _ in rows)
        yield title
        yield from (f"  {value:<{width}}  {source}".rstrip() for value, source in rows)
