"""What the result of each target depends on, as a fingerprint: its compile key, its case digest, its host and its
golden rules.

`retarget ci fingerprints` prints them. `retarget ci plan --since` compares those of two revisions.

`--since REV`: which targets can have another result than at a revision, by their fingerprints.

A target that is there under another name or in another file, with the same content, is the same. One whose fingerprint
is not known counts as changed. So do all where a file has changed that no fingerprint covers: what pytest, installers
and scripts read, nobody can list. `paths_ignore` in `ci.toml` names files that no target depends on.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from retarget.cli import text_table
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig, Target
from retarget.results import History
from retarget.session import Declared, DeclaredTarget, Engine, FileName, Registry, RuleSet
from retarget.support import RetargetError, counted, first_line

from retarget_ci import CI_FILE, LOCK_FILE
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
    declared = Declared.collect(Path.cwd(), arguments.path, extensions)
    with Engine(registry=declared.registry, extensions=extensions) as engine:
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
    digests = engine.case_digests
    compiled = {(one.suite_id, one.compiled.name): one.compiled for one in declared.targets}

    @cache
    def generated(suite_id: str, name: str) -> CompileTarget:
        return engine.generated(compiled[suite_id, name])

    @cache
    def key(suite_id: str, name: str) -> str:
        return engine.compile_key(compiled[suite_id, name]) if (suite_id, name) in compiled else ""

    @cache
    def rules(suite_id: str) -> RuleSet:
        return RuleSet.of(suites[suite_id], registry)

    @cache
    def goldens(suite_id: str) -> Sequence[RuleSet]:
        return RuleSet.of_goldens(suites[suite_id].goldens)

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
    for one in filter(ByWords(select), declared.targets):
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
        limits = [str(generated(one.suite_id, name).timeout) for name in names]
        parts = [*keys, *limits, digests.of(target, rules(one.suite_id).rules_for(one.target))]
        own = [target] if isinstance(target, RunTarget) else []
        others = [run for name in names[1:] for run in runs.get((one.suite_id, name), ())]  # any may be agreed with
        parts += [digests.of(replace(run, compile=generated(one.suite_id, run.compile.name))) for run in others]
        bounds = [bound for of_metric in goldens(one.suite_id) for bound in of_metric.rules_for(one.target).all]
        parts += [f"{bound.signature} {bound.until} {bound.when}" for bound in bounds]
        parts += [_where(run.runtime) for run in (*own, *others)]
        found[one.id] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    relative = frozenset(os.path.relpath(one) for one in files)
    return Fingerprints(of=found, unknown=dict(unknown), files=relative)


def _where(runtime: RuntimeConfig) -> str:
    """Return what is declared of where a run is made: its hosts (another runner takes it), and the folder of its build,
    which need not be on this machine."""
    build, folder = runtime.toolchain and runtime.toolchain.path, Path.cwd()
    build = build.relative_to(folder) if build and build.is_relative_to(folder) else build
    return f"{runtime.host_os} {runtime.host_arch} {build}"


def _references(one: DeclaredTarget, registry: Registry) -> Sequence[str]:
    """Return the compile targets of a module that its cases are to agree with: their artifacts decide, too."""
    loader, module = registry.case_loaders.get(one.compiled.kind), one.compiled.module
    if loader is None or not isinstance(one.target, RunTarget):
        return ()
    names = loader.references(module, one.compiled.folder, one.compiled.compiler.name)
    return [*map(module.target, names)]


_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE"})
"""The variables by which git tells its hooks of their checkout. A worktree is another one."""

_OF_PATHSPECS = frozenset(f"GIT_{how}_PATHSPECS" for how in ("GLOB", "ICASE", "LITERAL", "NOGLOB"))
"""The variables by which git reads pathspecs in another way: `git --literal-pathspecs` sets one for its hooks."""

_DECLARATIONS = frozenset({*FileName, LOCK_FILE})
"""Names of files that fingerprints cover; a lock follows from them and `ci.toml`."""


class Changes(Struct, frozen=True, kw_only=True):
    """`unchanged` are ids of targets that the revision has, too. `warnings` say what is not known."""

    unchanged: frozenset[str]
    warnings: tuple[str, ...] = ()


def changes_since(
    revision: str,
    folder: Path,
    paths: Sequence[str],
    extensions: Sequence[str] = (),
    *,
    select: str = "",
    ignored: Sequence[str] = (),
) -> Changes:
    """Compare what pytest collects from paths below a folder with what it collects there at a revision, as far as
    `select` (as with `-m`) selects it. `ignored` are pathspecs of git, relative to the folder, of files that no target
    depends on.

    Where the declarations of the revision cannot be read, everything has changed. Raises `RetargetError` for a folder
    that is in no git checkout, a revision that git does not know, and invalid declarations of the folder.
    """
    top, commit = _located(revision, folder)
    here = folder.resolve().relative_to(top)
    others = _others(folder, here, commit, ignored)
    all_count = "so that all count as changed"
    with _worktree(top, commit) as tree, ThreadPoolExecutor() as pool:
        before = tree / here
        there = [path for path in paths if (before / path.partition("::")[0]).exists()]
        old = pool.submit(_fingerprints, before, there, extensions, select) if there else None
        new = pool.submit(_fingerprints, folder, paths, extensions, select).result()
        warnings = [
            f"{count} without a fingerprint, which count as changed: {why}" for why, count in new.unknown.items()
        ]
        try:
            known = old.result() if old is not None else Fingerprints()
        except RetargetError as error:
            said = str(error).replace(f"{tree}{os.sep}", "")
            warnings.append(f"the declarations of {revision} cannot be read, {all_count}: {said}")
            return Changes(unchanged=frozenset(), warnings=tuple(warnings))
    if others := others - new.files - known.files:
        more = f" and {counted(len(others) - 1, 'further file')}" if len(others) > 1 else ""
        said = f"{min(others)}{more} changed since {revision}, {all_count}"
        said += f"; paths_ignore in {CI_FILE} can name files that no target depends on"
        return Changes(unchanged=frozenset(), warnings=(said,))
    before_all = {*known.of.values()}
    unchanged = frozenset(name for name, one in new.of.items() if one in before_all)
    return Changes(unchanged=unchanged, warnings=tuple(warnings))


def _others(folder: Path, here: PurePath, commit: str, ignored: Sequence[str]) -> set[str]:
    """Return the files of a checkout that are not those of a commit, relative to a folder in it, without declarations,
    the runs of a history, and those that git ignores."""
    which = ("--", ":(top)", *(f":(exclude){one}" for one in ignored))
    every = ("--no-renames", "--no-relative", "--ignore-submodules=none")  # whatever git is configured to leave out
    listed = _git(folder, "diff", "--name-only", *every, "-z", commit, *which)
    listed += _git(folder, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", *which)
    files = map(PurePath, filter(None, listed.split("\0")))
    return {
        os.path.relpath(one, here) for one in files if one.name not in _DECLARATIONS and not History.is_run(one.name)
    }


def _located(revision: str, folder: Path) -> tuple[Path, str]:
    """Return the checkout that a folder is in, and the commit that a revision means."""
    try:
        top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    except RetargetError as error:
        msg = f"--since {revision}: {error}; expected {folder} in a git checkout"
        raise RetargetError(msg) from error
    try:
        return top.resolve(), _git(
            folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        ).strip()
    except RetargetError as error:
        known = "expected a branch, a tag or a commit that this checkout has; a shallow one is deepened by `git fetch`"
        msg = f"--since: found the unknown revision {revision!r}, {known}"
        raise RetargetError(msg) from error


@contextmanager
def _worktree(top: Path, commit: str) -> Iterator[Path]:
    """Check a commit out into a new folder, which is removed at the end. The checkout is not changed."""
    with tempfile.TemporaryDirectory(prefix="retarget-since-", ignore_cleanup_errors=True) as temporary:
        tree = Path(temporary).resolve() / "tree"
        try:
            _git(top, "worktree", "add", "--detach", "--force", str(tree), commit)
            yield tree
        finally:
            with suppress(RetargetError):
                _git(top, "worktree", "remove", "--force", "--force", str(tree))


def _git(folder: Path, *arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *arguments],  # noqa: S607
            env={name: value for name, value in os.environ.items() if name not in _OF_A_HOOK | _OF_PATHSPECS},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        msg = f"git cannot be run: {error.strerror or error}"
        raise RetargetError(msg) from error
    if ran.returncode:
        raise RetargetError(first_line(ran.stderr, f"git {arguments[0]} failed"))
    return ran.stdout


def _fingerprints(folder: Path, paths: Sequence[str], extensions: Sequence[str], select: str) -> Fingerprints:
    """Collect in a folder, in a separate process: its imports stay there."""
    loaded = [f"--retarget-extension={one}" for one in extensions]
    options = ["--format=json", f"--select={select}"]
    command = [sys.executable, "-P", "-m", "retarget.cli", "ci", *loaded, "fingerprints", *options, "--", *paths]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode:
        raise RetargetError(ran.stderr.decode(errors="replace").strip() or f"exit status {ran.returncode}")
    try:
        return msgspec.json.decode(ran.stdout, type=Fingerprints)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"`{shlex.join(command[3:])}` printed something else than fingerprints; does an extension print?"
        raise RetargetError(msg) from error
