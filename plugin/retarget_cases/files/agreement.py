"""Which compiler config a case agrees with, and whether configs wait for each other in a cycle."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from msgspec import Struct
from retarget.declare.schema.errors import describe_value
from retarget.model.names import is_glob, known_words
from retarget.support.errors import did_you_mean
from retarget.support.toml.keypaths import KeyPath, Problem

_LONGEST_GLOB = 1000
"""Characters, as of the globs in suite files."""


class Agreement(Struct, frozen=True, kw_only=True):
    """Which config's results are expected, by the config that compiled: `rules` are (name or glob, config) pairs."""

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

    @property
    def named(self) -> tuple[str, ...]:
        """All configs that it names."""
        return tuple(dict.fromkeys(word for rule in self.rules for word in rule if not is_glob(word)))


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
            hint = did_you_mean(pattern, known) or f"; {known_words(known)}"
            yield Problem(key_path, f"found {pattern!r}, expected a compiler config or a glob that matches one{hint}")
        if config not in known or (config in wanted and config not in running):
            found = f"{config!r}, which does not run the module" if config in known else repr(config)
            hint = did_you_mean(config, running) or f"; {known_words(running)}"
            expected = f"expected a compiler config that runs the module in suite {suite!r}{hint}"
            yield Problem(key_path, f"found {found}, {expected}")


def cycle_problems(agreements: Sequence[Agreement], known: Sequence[str]) -> Iterable[Problem]:
    """Yield a problem for a cycle of configs of one module each of which needs results of the next.

    All cases of a config run together, so one case may close a cycle that another opened. A config that is not `known`
    is reported as unknown, and is part of no cycle.
    """
    named = dict.fromkeys(config for agreement in agreements for config in agreement.named)
    configs = [config for config in named if config in known]
    waits: dict[str, dict[str, Agreement]] = {config: {} for config in configs}
    for config in configs:
        for agreement in agreements:
            other = agreement.config(config)
            if other is not None and other != config and other in waits:
                waits[config].setdefault(other, agreement)
    cycle = _cycle(waits)
    if cycle:
        last = max((waits[one][other].key_path for one, other in pairwise(cycle)), key=str)
        shown = " → ".join(cycle)
        expected = "expected the last config of a chain to agree with none but itself"
        yield Problem(last, f"found configs that wait for each other's results, {shown}; {expected}")


def _cycle(waits: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a cycle, its first config again at the end; empty where there is none."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][:0:-1]
        start = cycle.index(next(config for config in waits if config in cycle))
        return [*cycle[start:], *cycle[: start + 1]]
    return []
