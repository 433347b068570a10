"""The case digest of a target: what is tried of its artifact, how, and what is expected of it.

A target whose compile key and case digest are those of another revision gives the same result there, as far as files
can tell. The digest of a run target covers the content of the files that hold its cases and of those that they name,
and what is declared of its run: driver, devices, flags, environment, requirements, time limit; that of any target the
expectations in force for it. No path is part of it, no timestamp, and nothing of the machine. Cases that are to agree
with another compiler config (`CaseLoader.references`) depend on its artifact too, which has its own compile key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from retarget.engine.cache.key import InputDigests, digest_of
from retarget.expect.cases import TargetRules
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Expectation, RunTarget, Target
from retarget.support.errors import RetargetError
from retarget.targets.selection import names_devices

_FORMAT = "1"
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
                    lambda: [compiled.compiler.name, compiled.module.entry, *self._files(compiled)],
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
        return digest_of("\n".join((_FORMAT, compiled.kind, *parts)).encode())

    def trial(self, target: Target) -> str:
        """Return the digest of what is tried, whatever is expected of it (SHA-256 hex): of a module's source, and of
        its cases and how they are run. `target` is as for `of`."""
        compiled = target.compile if isinstance(target, RunTarget) else target
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
