"""What the result of each target depends on, as a fingerprint: its compile key, its case digest, its host and its
golden rules.

`retarget ci fingerprints` prints them. `retarget ci plan --since` compares those of two revisions.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from retarget.cli import text_table
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunTarget, Target
from retarget.session import (
    CaseDigests,
    Declared,
    DeclaredTarget,
    Engine,
    Registry,
    RuleSet,
    cache_of_command,
    collect_targets,
    compile_selector,
    compile_target_name,
    golden_rules,
)
from retarget.support import counted

from retarget_ci.planning.plan import ByWords

_SHOWN = 16


class Fingerprints(msgspec.Struct, frozen=True, kw_only=True):
    """`of` has the fingerprint of each target by its id. `unknown` says why others have none, with their number.
    `files` are those whose content is in a fingerprint or leaves a target without one, relative to the folder."""

    of: dict[str, str] = {}
    unknown: dict[str, int] = {}
    files: frozenset[str] = frozenset()


def add(subparsers: Any) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "fingerprints", help="what `plan --since` compares: a digest of all that the result of a target depends on"
    )
    parser.add_argument("path", nargs="*", default=["."], help="folders or suite files (.)")
    parser.add_argument("--select", default="", metavar="EXPR", help="only targets that it selects, as with -m (all)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")
    parser.set_defaults(act=_print)


def _print(arguments: argparse.Namespace) -> int:
    extensions = arguments.retarget_extension
    declared = collect_targets(Path.cwd(), arguments.path, extensions)
    with Engine(registry=declared.registry, cache=cache_of_command().folder, extensions=extensions) as engine:
        found = fingerprints(declared, engine, arguments.select)
    if arguments.format == "json":
        sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        return 0
    sys.stdout.write(
        text_table(("fingerprint", "target"), [(one[:_SHOWN], name) for name, one in found.of.items()]) + "\n"
    )
    for reason, count in found.unknown.items():
        sys.stdout.write(f"{counted(count, 'target')} without one: {reason}\n")
    return 0


def fingerprints(declared: Declared, engine: Engine, select: str = "") -> Fingerprints:
    """Return the fingerprints of the targets that `select` selects, as with `-m`. Compilers resolve their flags for it,
    in workers; nothing is compiled.

    Raises `RetargetError` for invalid files.
    """
    registry = declared.registry
    digests = CaseDigests(registry)
    compiled = {(one.suite_id, one.compiled.name): one.compiled for one in declared.targets}

    @cache
    def generated(suite_id: str, name: str) -> CompileTarget:
        return engine.generated(compiled[suite_id, name])

    @cache
    def key(suite_id: str, name: str) -> str:
        return engine.compile_key(compiled[suite_id, name]) if (suite_id, name) in compiled else ""

    @cache
    def rules(suite_id: str) -> RuleSet:
        suite = suites[suite_id]
        return RuleSet(suite.expectations, checks_artifacts=registry.artifact_checker(suite.kind) is not None)

    @cache
    def goldens(suite_id: str) -> Sequence[RuleSet]:
        return golden_rules(suites[suite_id].goldens)

    suites = {one.suite_id: one.suite for one in declared.targets}
    found: dict[str, str] = {}
    unknown: Counter[str] = Counter()
    files: set[Path] = set()
    runs: dict[tuple[str, str], list[RunTarget]] = {}
    for one in declared.targets:
        module = one.compiled.module
        if isinstance(one.target, RunTarget):
            runs.setdefault((one.suite_id, one.compiled.name), []).append(one.target)
        files |= {one.suite.origin.file, module.path, *module.data, *(digests.named_files(one.compiled) or ())}
    for one in filter(ByWords(compile_selector(select)), declared.targets):
        try:
            made = generated(one.suite_id, one.compiled.name)
            target: Target = replace(one.target, compile=made) if isinstance(one.target, RunTarget) else made
            names = [one.compiled.name, *_references(one, registry)]
            keys = [key(one.suite_id, name) for name in names]
        except UnavailableError as error:
            unknown[str(error)] += 1
            continue
        if not all(keys):
            unknown["flags are refused, or a module cannot be read"] += 1
            continue
        if isinstance(target, RunTarget) and any(path.suffix == ".py" for path in digests.named_files(made) or ()):
            unknown["their cases name a Python file, which may read anything"] += 1
            continue
        parts = [*keys, digests.of(target, rules(one.suite_id).rules_for(one.target))]
        for name in names[1:]:  # any of the runs of these gives the results to agree with
            parts += [
                digests.of(replace(run, compile=generated(one.suite_id, name)))
                for run in runs.get((one.suite_id, name), ())
            ]
        bounds = [bound for of_metric in goldens(one.suite_id) for bound in of_metric.rules_for(one.target).all]
        parts += [f"{bound.signature} {bound.until} {bound.when}" for bound in bounds]
        if isinstance(target, RunTarget):  # another runner takes it
            parts += [f"{target.runtime.host_os} {target.runtime.host_arch}"]
        found[one.id] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    relative = frozenset(os.path.relpath(one) for one in files)
    return Fingerprints(of=found, unknown=dict(unknown), files=relative)


def _references(one: DeclaredTarget, registry: Registry) -> Sequence[str]:
    """Return the compile targets of a module that its cases are to agree with: their artifacts decide, too."""
    loader, module = registry.case_loaders.get(one.compiled.kind), one.compiled.module
    if loader is None or not isinstance(one.target, RunTarget):
        return ()
    names = loader.references(module, one.compiled.folder, one.compiled.compiler.name)
    return [compile_target_name(module.name, name) for name in names]
