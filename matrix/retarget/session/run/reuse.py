"""Which results of earlier runs serve a session's targets: kept ones, whose dependencies and
whose case digest (what is tried of an artifact, how, and what is expected) are unchanged.

The case digest of a run target covers the content of the files that hold its cases and of those that they name, and
what is declared of its run; that of any target the expectations in force for it. It has no path, no timestamp, and
nothing of the machine.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from retarget.expect.verdict import Ruling, TargetRules, judge_target
from retarget.extension import UnavailableError, code_digest
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Expectation, RunTarget, RuntimeConfig, Target
from retarget.model.outcomes import Artifact, CaseOutcome, DeviceInfo, Failure, Observation, RunOutcome
from retarget.session.cache.key import InputDigests, digest_of, host_identity
from retarget.session.cache.store import Store, StoreError
from retarget.session.compile.resolution import describe_build
from retarget.support.dependencies import (
    CORE,
    OF_DRIVERS,
    OF_LOADERS,
    Dependency,
    dependency_state,
    variables,
    variables_named,
    versions_of_arrays,
)
from retarget.support.errors import RetargetError
from retarget.support.files import LIMIT_VARIABLE, read_regular, user_path
from retarget.targets.selection import names_devices

_FORMAT = "4"
"""Incremented when what the digest covers, or what is kept under it, changes."""

_REGISTERED = ("/etc", "/usr/local/share", "~/.config", "~/.local/share", "$XDG_CONFIG_HOME", "$XDG_DATA_HOME")
"""Folders in which a machine's own drivers and layers are registered. Those of its packages are in others."""

_MANIFESTS = frozenset({".icd", ".json"})
_LIBRARY = re.compile(r'[^\s"]+\.(?:so|dylib|dll)[^\s"]*')
_COMMANDS = re.compile(r"[^\s;|&(){}<>'\"`$=]+")
"""What may be a program in text for a shell."""
_OF_ARRAYS = ("NPY_*", "OMP_*", "OPENBLAS_*", "MKL_*", LIMIT_VARIABLE)
_VARIABLES = (*OF_DRIVERS, *_OF_ARRAYS)
_OF_PYTHON = ("PYTHON*", "LANG", "LC_*", "TZ")
"""The variables that Python and its C libraries read."""


class RunDependencies:
    """The dependencies of each target's result, as a digest. Shared ones are determined once.

    It covers the artifact, the case digest, the devices as their drivers report them, the builds of driver and runtime,
    the code and the packages that make and compare cases, the kind of host, the variables by which loaders choose
    drivers and libraries of numbers their code, those that the code of driver and kind names, the files that flags,
    variables and the command of `run_under` name, and the libraries of drivers (ICDs) that variables name. Of what runs
    behind that command nothing is reported.
    """

    def __init__(self, registry: Registry, extensions: Sequence[str]) -> None:
        """`extensions` are module names to load in workers in addition to the installed entry points."""
        self._registry = registry
        self._extensions = tuple(extensions)
        self._known: dict[RuntimeConfig | str, str] = {}
        self._inputs = InputDigests()

    def of(
        self, target: RunTarget, artifact: str, case_digest: str, devices: Sequence[DeviceInfo], *more: object
    ) -> str:
        """Return the digest (SHA-256 hex) for a target, the digest of its artifact, and its devices. `more` is covered,
        too. It is empty where devices, and what stands for them, are not known, and where code cannot be found."""
        if not devices and not target.runtime.run_under:
            return ""
        try:
            about = [self._of_kind(target.compile.kind), self._of_runtime(target.runtime), [*map(_identity, devices)]]
        except (ImportError, OSError, RetargetError, UnavailableError, ValueError):
            return ""
        return digest_of(json.dumps([_FORMAT, artifact, case_digest, *about, *more]).encode())

    def _of_kind(self, kind: str) -> str:
        if kind not in self._known:
            loader = self._registry.case_loaders.get(kind)
            about = [] if loader is None else [self._registry.code_of(loader), variables_named(type(loader).__module__)]
            self._known[kind] = digest_of(json.dumps([code_digest(*CORE), *about]).encode())
        return self._known[kind]

    def _of_runtime(self, runtime: RuntimeConfig) -> str:
        if runtime not in self._known:
            drivers = [self._registry.drivers[name] for name in runtime.drivers]
            code = [*map(self._registry.code_of, drivers)]
            build = describe_build(self._registry, self._extensions, runtime)
            seen = variables(_VARIABLES) + variables_named(*(type(driver).__module__ for driver in drivers))
            host = [host_identity(), versions_of_arrays()] if runtime.run_under else []
            path = {**os.environ, **dict(self._registry.worker_environment(runtime))}.get("PATH")
            named = (name for word in runtime.run_under for name in (word, *_COMMANDS.findall(word)))
            programs = filter(None, (shutil.which(name, path=path) for name in named))
            ends = (".py", "/__main__.py")  # of modules that an interpreter runs by `-m`
            modules = (f"{word.replace('.', '/')}{end}" for word in runtime.run_under for end in ends)
            words = (*runtime.flags, *runtime.run_under, *programs, *modules)
            env = (*runtime.env, *seen)
            files = self._inputs.of(words, env=env, files=[*_libraries(env)], only_files=True)
            self._known[runtime] = digest_of(json.dumps([code, build, seen, host, files]).encode())
        return self._known[runtime]


def _libraries(env: Sequence[tuple[str, str]]) -> Iterator[Path]:
    """Yield the files (ICDs, layers) that the variables of loaders name, or have in their folders, those of a machine's
    own drivers, and the libraries that these name."""
    values = [value for name, value in env if any(fnmatchcase(name, like) for like in OF_LOADERS)]
    tops = (user_path(os.path.expandvars(top)) / "vulkan" for top in _REGISTERED)
    values += ["/etc/OpenCL/vendors", *(str(folder) for top in tops for folder in top.glob("*.d"))]
    for place in (Path(part) for value in values for part in value.split(os.pathsep) if part):
        for file in sorted(place.glob("*")) if place.is_dir() else (place,):
            if file.suffix not in _MANIFESTS:
                continue
            with suppress(OSError):  # what cannot be read here is not read by a loader either
                text = read_regular(file).decode(errors="replace")
                yield file
                yield from (file.parent / name for name in _LIBRARY.findall(text))


def _identity(device: DeviceInfo) -> list[object]:
    """A driver's report of a device, without its position in the list and what may change at any moment."""
    about = [device.driver, device.name, device.physical_id, device.driver_version, device.runtime, device.host]
    return [*about, device.features, device.arrays]


class ReusableResults:
    """The results in a store, by the targets, artifacts and devices of a session. Targets are those of
    `Engine.generated`; the `devices` are those that a target runs on.

    A failed write is noted, once, and never an error: it runs again."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        *,
        extensions: Sequence[str],
        only: Sequence[str],
        default_timeout: float,
        case_digests: CaseDigests,
        runs_remotely: bool,
    ) -> None:
        """`extensions` are those of `RunDependencies`, `only` the selected cases, `default_timeout` the limit of
        a target that declares none. If it `runs_remotely`, nothing but its devices says where a target runs."""
        self.notes: list[str] = []
        self._store = store
        self._registry = registry
        self._dependencies = RunDependencies(registry, extensions)
        self._only = tuple(only)
        self._default_timeout = default_timeout
        self._case_digests = case_digests
        self._runs_remotely = runs_remotely

    def find(
        self, target: RunTarget, artifact: Artifact, rules: TargetRules, devices: Sequence[DeviceInfo]
    ) -> KeptResult | None:
        """Return what `Engine.kept_result` does."""
        key = self._key(target, artifact, rules, devices, *self._only)
        try:
            kept = _decoded(self._store.read_result(key)) if key else None
        except StoreError:  # writers report it
            return None
        if kept is None or not is_reusable(rules, kept.outcome(())):
            return None
        return kept if self._hold(target, kept.dependencies) else None

    def keep(
        self,
        target: RunTarget,
        artifact: Artifact,
        rules: TargetRules,
        outcome: RunOutcome,
        devices: Sequence[DeviceInfo],
    ) -> None:
        """Do what `Engine.keep_result` does; nothing where case files were edited since their digest was made. A result
        that is kept already stays where its dependencies hold, unless this one is another. A failure that no rule
        excuses is kept for that comparison only: `find` does not return it."""
        if self._case_digests.has(target) and CaseDigests(self._registry).of(target) != self._case_digests.of(target):
            return
        key = self._key(target, artifact, rules, devices, *self._only)
        if outcome.dependencies:
            outcome = replace(outcome, dependencies=(*outcome.dependencies, self._session(target)))
        if not key or not self._hold(target, outcome.dependencies):
            return
        try:
            is_kept = is_reusable(rules, outcome)
            known = self._store.read_result(key, local_only=is_kept)  # a shared one is asked for few: see `stays`
            failed = _decoded((known or {}).get("failed"))
            kept = failed or _decoded(known)
            is_verdict = outcome.failure is None or not outcome.failure.no_verdict
            stands = known is not None and (
                kept is None or kept.dependencies == outcome.dependencies or self._hold(target, kept.dependencies)
            )
            if stands and kept is not None and is_verdict and _way(kept.outcome(())) != _way(outcome):
                self._store.write_result(key, _BY_CHANCE)
            elif (failed or not stands) and (is_kept or (is_verdict and outcome.failure is not None)):
                gave = {name: getattr(outcome, name) for name in _FIELDS}
                kept = KeptResult(host=outcome.host or platform.node(), ended=time.time(), **gave)
                body = msgspec.to_builtins(kept)
                self._store.write_result(key, body if is_kept else {"failed": body}, stays=_BY_CHANCE)
            if self._only and is_verdict and outcome.failure is not None:
                key = self._key(target, artifact, rules, devices)
                if (whole := _decoded(self._store.read_result(key))) is None or not self._hold(
                    target, whole.dependencies
                ):
                    return
                if whole.failure is None or _way(outcome)[1] - _way(whole.outcome(()))[1]:  # a case that passed there
                    self._store.write_result(key, _BY_CHANCE)
        except StoreError as error:
            if not self.notes:
                self.notes.append(f"results are not kept: {error}")

    def _hold(self, target: RunTarget, dependencies: Sequence[Dependency]) -> bool:
        """Return whether dependencies are as they were. Never where that cannot be told: something was done that
        nothing is known of, or another machine does it."""
        if not dependencies:
            return True
        if self._runs_remotely or any(sort == "unseen" for sort, *_ in dependencies):
            return False
        env = {**os.environ, **dict(self._registry.worker_environment(target.runtime))}
        *recorded, session = dependencies
        now = [(sort, name, dependency_state(sort, name, env)) for sort, name, _ in recorded]
        return now == recorded and session == self._session(target)

    def _session(self, target: RunTarget) -> Dependency:
        """Return where a session is, what it imports from, and the variables of Python itself."""
        about = [str(target.compile.folder), str(Path.cwd()), [*dict.fromkeys(sys.path)], variables(_OF_PYTHON)]
        return ("session", "", digest_of(json.dumps(about).encode()))

    def _key(
        self, target: RunTarget, artifact: Artifact, rules: TargetRules, devices: Sequence[DeviceInfo], *only: str
    ) -> str:
        if self._runs_remotely and not devices:
            return ""
        more = (only, rules.skipping(), self._default_timeout if target.timeout is None else None)
        return self._dependencies.of(target, artifact.digest, self._case_digests.of(target), devices, *more)


_BY_CHANCE: dict[str, Any] = {"by_chance": True}
"""The body that is kept for a target that passes and fails by chance, or fails in other ways or cases each time."""


def _way(outcome: RunOutcome) -> tuple[Observation | None, set[str]]:
    """Return how a run failed, and the cases that did."""
    seen = outcome.failure.observed_in(outcome.cases) if outcome.failure is not None else None
    return seen, {case.name for case in outcome.cases if case.failure is not None}


class KeptResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's outcome, in the fields of `RunOutcome`; the host that ran it, and when it ended (seconds since 1970,
    UTC)."""

    host: str
    ended: float
    load_seconds: float
    run_seconds: float
    compare_seconds: float
    cases: tuple[CaseOutcome, ...]
    names: tuple[str, ...]
    loaded: bool
    failure: Failure | None = None
    output: str = ""
    dependencies: tuple[Dependency, ...] = ()

    def outcome(self, devices: Sequence[DeviceInfo]) -> RunOutcome:
        """Return the outcome of a run on `devices`, which began at no time of this session."""
        return RunOutcome(devices=tuple(devices), **{name: getattr(self, name) for name in _FIELDS})


msgspec.json.Decoder(KeptResult)
"""As in `retarget.session.cache.sealed_files`: several threads may read results."""


_FIELDS = [name for name in RunOutcome.__dataclass_fields__ if name in {*KeptResult.__struct_fields__} - {"host"}]


def is_reusable(rules: TargetRules, outcome: RunOutcome) -> bool:
    """Return whether an outcome is as good as another run today: it passed, or failed as its rules say.

    Never where chance has a part: crashes, timeouts, devices that were lost, flaky and intermittent rules. Nor
    where a rule has expired, no case was run, or a case is to agree with another config, whose run counts as well.
    Raises `RetargetError` where two rules contradict each other on a case.
    """
    if any(rule.outcome in {"flaky", "intermittent"} or rule.is_expired for rule in rules.all):
        return False
    failures = [outcome.failure, *(case.failure for case in outcome.cases)]
    if outcome.suspect or outcome.notes or any(failure is not None and failure.transient for failure in failures):
        return False
    if any(case.agree_with for case in outcome.cases):
        return False
    verdict = judge_target(rules, outcome.failure, outcome.cases, names=outcome.names)
    if outcome.failure is None:
        return bool(outcome.cases) and not verdict.broken
    return not verdict.broken and verdict.ruling is Ruling.EXCUSED


def _decoded(body: dict[str, Any] | None) -> KeptResult | None:
    """Return what a body says; None where it says nothing, or is of another form, which is as if it were not there."""
    try:
        return msgspec.convert(body, KeptResult)
    except msgspec.ValidationError:
        return None


_DIGEST_FORMAT = "1"
"""Incremented when what the digest covers changes."""


class CaseDigests:
    """The case digests of a session's targets. Each file is read again only if it changes."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._inputs = InputDigests()
        self._known: dict[tuple[object, ...], tuple[object, str]] = {}

    def of(self, target: Target, rules: TargetRules | None = None) -> str:
        """Return the case digest of a target (SHA-256 hex), whose modules are generated where its kind generates them:
        see `Engine.generated`. `rules` are those in force for it: `retarget.expect.matching.Assignment.of`.
        """
        if isinstance(target, RunTarget):
            compiled, asked = target.compile, tuple(one.text for one in target.requires)
            parts = [
                self._part(
                    ("cases", compiled.compiler.name, id(compiled.module)),
                    compiled.module,
                    lambda: [
                        compiled.compiler.name,
                        compiled.module.entry,
                        *([["agree", compiled.agree]] if compiled.agree else []),
                        *self._files(compiled),
                    ],
                ),
                self._part(
                    ("run", id(target.runtime), target.timeout, asked), target.runtime, lambda: self._declared(target)
                ),
            ]
        else:
            compiled = target
            key = ("checks", target.kind, target.compiler.name, id(target.tags), id(target.known_compilers))
            parts = [self._part(key, (target.tags, target.known_compilers), lambda: self._checks(target))]
        if rules is not None and rules.all:
            of_rules = ("rules", id(rules.whole), id(rules.by_case), id(rules.possible))
            parts.append(self._part(of_rules, rules, lambda: [*map(_rule, rules.all)]))
        return digest_of("\n".join((_DIGEST_FORMAT, compiled.kind, *parts)).encode())

    def has(self, target: Target) -> bool:
        """Return whether the cases of a target were read before."""
        return ("cases", target.compiled.compiler.name, id(target.compiled.module)) in self._known

    def trial(self, target: Target) -> str:
        """Return the digest of what is tried, whatever is expected of it (SHA-256 hex): of a module's source, and of
        its cases and how they are run. `target` is as for `of`."""
        compiled = target.compiled
        return digest_of(f"{self._content(compiled.module.path)}\n{self.of(target)}".encode())

    def _checks(self, target: CompileTarget) -> list[object]:
        """The dependencies of a check of the artifact, where the kind makes one: its own lines are in the module."""
        checks = self._registry.artifact_checker(target.kind) is not None
        return [target.compiler.name, target.tags, target.known_compilers] if checks else []

    def named_files(self, target: CompileTarget) -> Sequence[Path] | None:
        """Return the files that those with a module's cases name; None where these have errors, which a run reports."""
        loader = self._registry.data_namer(target.kind)
        try:
            return loader.data_files(target.module, target.folder) if loader is not None else ()
        except RetargetError:
            return None

    def _files(self, target: CompileTarget) -> Iterator[list[str]]:
        """Yield the files with a module's cases, and the content of those that they name."""
        module, named = target.module, self.named_files(target)
        is_made = not module.data and self._registry.module_generator(target.kind) is not None
        for path in (module.path,) if is_made else module.data:
            yield [path.name, self._content(path)]
        if self._registry.data_namer(target.kind) is not None:
            yield ["invalid"] if named is None else [*map(self._content, named)]

    def _declared(self, target: RunTarget) -> list[object]:
        """The declared properties of a run, in the order of the model's fields."""
        runtime = target.runtime
        toolchain = runtime.toolchain
        named = self._inputs.of((*runtime.flags, *runtime.run_under), env=runtime.env, only_files=True)
        return [
            [runtime.driver, runtime.devices, runtime.roles, runtime.used, runtime.distinct],
            [runtime.flags, sorted(runtime.env), runtime.run_under],
            [toolchain.name, toolchain.run_with] if toolchain is not None else [],
            self._content(Path(runtime.profile)) if Path(runtime.profile).is_absolute() else runtime.profile,
            target.timeout,
            [requirement.text for requirement in target.requires],
            *([[host.identity, host.run_with, host.env]] if (host := runtime.host) is not None else []),
            *(["sanitize"] if runtime.sanitize else []),
            *(one for one in named if not Path(one[0]).is_absolute()),
        ]  # what is new is left out where it is not declared: ladders and results of earlier releases have digests

    def _content(self, path: Path) -> str:
        ((_, digest),) = self._inputs.of((), files=[path])
        return digest

    def _part(self, key: tuple[object, ...], kept: object, make: Callable[[], list[object]]) -> str:
        """Return the digest of what `make` gives, made once for a key. `kept` are objects whose ids are in the key."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (kept, digest_of(json.dumps(make()).encode()))
        return found[1]


def _rule(rule: Expectation) -> list[object]:
    """What a rule excuses, without its reason."""
    until = rule.until.isoformat() if rule.until is not None else ""
    device = [rule.when] if names_devices(rule.when) else []
    return [rule.outcome, rule.stages, rule.signature, rule.cases, rule.retries, until, *device]
