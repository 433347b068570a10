"""Rules are written from results: of the session that runs, or of sessions on several machines.

Carries out edits of expectations: files are read, rewritten, shown as a diff, and put in place all together.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import tomli
from msgspec import Struct

from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import FileName
from retarget.expect.diagnostics import expired_diagnostics
from retarget.expect.update.by_case import CasesSeen
from retarget.expect.update.edited_rules import Key, SuiteTargets, key_of
from retarget.expect.update.plan import Devices, FileEdit, on_devices, plan_update
from retarget.expect.update.text import rewrite
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.model.declared import compile_target_name
from retarget.model.outcomes import Observation, Stage
from retarget.results.record import DeviceRecord, Outcome, Result, TargetRecord
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import write_files
from retarget.support.text import counted, listed
from retarget.targets.expansion import expand_suite

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class RuleUpdate:
    """Collects what was observed, and writes the rules. `left_over` says then that something is left to a person."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Key, Devices], Observation | None] = {}
        self._own: set[tuple[Key, str]] = set()
        self._cases: dict[tuple[Key, Devices], CasesSeen] = {}
        self._alike: dict[tuple[Key, Devices], dict[_Ids, tuple[Observation | None, CasesSeen | None]]] = {}
        self.files: set[Path] = set()
        self.left_over = False

    def add(self, record: TargetRecord, host: str = "") -> None:
        """Keep what was observed of a target on its devices. A later record of it there replaces an earlier one, but
        for cases that it left out. `host` is the kind of host that compiled it, where there may be others."""
        key = (record.suite, record.target)
        self.files.add(Path.cwd() / record.file)
        if record.result is Result.UNKNOWN:
            return
        seen = record.observation if record.result is Result.FAILED else None
        compiled_for = record.compile.devices if record.compile is not None else ()
        if not record.runtime:
            self._own.add((key, record.session))
            self._keep(key, record.devices if record.compile is None else compiled_for, seen, record, host)
            return
        compiled = record.suite, compile_target_name(record.module, record.compiler)
        fails_to_compile = record.stage == Stage.COMPILE
        if (compiled, record.session) not in self._own:
            self._keep(compiled, compiled_for, seen if fails_to_compile else None, record, host)
        if not fails_to_compile:
            self._keep(key, record.devices, seen, record)

    def _keep(
        self, key: Key, devices: Sequence[DeviceRecord], seen: Observation | None, record: TargetRecord, *host: str
    ) -> None:
        place = key, tuple(device.traits for device in devices)
        ids = (" ".join(filter(None, (device.physical_id, device.host))) for device in devices)
        self._seen[place] = seen
        before = self._cases.pop(place, None)
        if key == (record.suite, record.target) and (cases := _cases_seen(record, before)):
            self._cases[place] = cases
        self._alike.setdefault(place, {})[*ids, *record.builds, *host] = seen, self._cases.get(place)

    def write(self, registry: Registry) -> Iterator[tuple[str, str]]:
        """Write the rules, and yield what to say of it as (line, colour) pairs.

        Raises `RetargetError` where nothing is written.
        """
        suites = served_suites(self.files, registry)
        if unknown := dict.fromkeys(text for suite in suites for text in registry.unknown(suite)):
            msg = "\n".join([*unknown, "expectations: nothing was written, because without these nothing is known"])
            raise RetargetError(msg)
        everything = [expanded(suite, registry) for suite in suites]
        differing = {place for place, found in self._alike.items() if _differ(found.values())}
        seen = {place: way for place, way in self._seen.items() if place not in differing}
        placed, names = on_devices(everything, seen)
        update = plan_update(
            placed,
            {name: seen[place] for place, name in names.items()},
            cases={name: self._cases[place] for place, name in names.items() if place in self._cases},
        )
        files = rewritten(update.edits)
        for file in files:
            yield from ((line, _COLOURS.get(line[:1], "")) for line in diff(file))
        put_in_place(files)
        yield from ((_changes_text(file), "") for file in files)
        if not files:
            yield f"expectations: nothing to change, {counted(len(update.excused), 'failure')} as expected", ""
        declared = {key_of(target) for one in everything for target in one.targets}
        gone = sorted({key for (key, _), way in self._seen.items() if way is not None} - declared)
        left = {"flaky, intermittent or past their date": update.left, "they are not declared here": gone}
        for why, keys in left.items():
            if keys:
                yield f"expectations: left to you, as {why}: {listed([name for _, name in keys], 8)}", "yellow"
        for (_, name), traits in sorted(differing, key=str):
            known = [*self._alike[(_, name), traits]]
            same = set(known[0]).intersection(*known)
            ids = " and ".join(" ".join(word for word in one if word not in same) for one in known)
            yield f"expectations: left to you, as no rule tells {ids} apart, whose results differ: {name}", "yellow"
        now = served_suites(self.files, registry) if files else suites  # rules went, others are on other lines
        rules = {rule.origin: rule for suite in now for rule in suite.expectations}.values()
        expired = expired_diagnostics(rules)
        yield from ((str(diagnostic), "red") for diagnostic in expired)
        self.left_over = bool(update.left or gone or differing or expired)


_Ids = tuple[str, ...]
"""What tells the circumstances of a result apart that no rule does: ids of devices, builds, a kind of host."""


def _cases_seen(record: TargetRecord, before: CasesSeen | None) -> CasesSeen | None:
    """What was observed of the cases of a target, or `before` of those that a selection left out."""
    seen = {
        one.name: Observation(stage=one.stage, signature=one.signature) if one.stage else None
        for one in record.cases
        if one.outcome is not Outcome.NOT_RUN and not one.no_verdict
    }
    names = tuple(one.name for one in record.cases)
    left = {*record.missing_cases, *record.open_cases} - seen.keys()
    seen |= {name: way for name, way in (before.seen if before is not None else {}).items() if name in left}
    is_selection = not seen.keys() >= {*record.missing_cases}
    return CasesSeen(names=names, seen=seen, is_selection=is_selection) if seen else None


def _differ(found: Iterable[tuple[Observation | None, CasesSeen | None]]) -> bool:
    """Whether devices of the same traits gave different results, for the whole target or for a case that both ran."""
    (first, known), *others = found
    return any(
        any(cases.seen.get(name, way) != way for name, way in known.seen.items()) if cases and known else seen != first
        for seen, cases in others
    )


def _changes_text(file: Rewritten) -> str:
    edit = file.edit
    rules, targets = counted(edit.rules, "rule"), counted(edit.targets, "target")
    changed = len(edit.changes) - edit.removed
    counts = f"+{len(edit.new)}, -{edit.removed}, ~{changed}"
    return f"expectations: {rules} for {targets} in {display_path(edit.file)} ({counts})"


class Rewritten(Struct, frozen=True, kw_only=True):
    """One file before and after; before is empty where there was none."""

    edit: FileEdit
    before: str
    after: str


def rewritten(edits: Iterable[FileEdit]) -> tuple[Rewritten, ...]:
    """Read the files and apply the edits. Raises `RetargetError` for a file that cannot be read or rewritten."""
    return tuple(_rewritten(edit) for edit in edits)


def _rewritten(edit: FileEdit) -> Rewritten:
    where = display_path(edit.file)
    try:
        before = edit.file.read_bytes().decode() if edit.file.exists() else ""
        mark = "\ufeff" if before.startswith("\ufeff") else ""
        after = mark + rewrite(before.removeprefix(mark), edit.changes, edit.new)
        tomli.loads(after.removeprefix(mark))
    except OSError as error:
        msg = f"{where}: cannot be read: {error.strerror or error}; no expectations were written"
        raise RetargetError(msg) from error
    except (RetargetError, ValueError) as error:
        msg = f"{where}: {error}; no expectations were written"
        raise RetargetError(msg) from error
    return Rewritten(edit=edit, before=before, after=after)


def diff(file: Rewritten) -> list[str]:
    """Return the lines of a unified diff, without line ends."""
    name = display_path(file.edit.file)
    lines = difflib.unified_diff(
        file.before.splitlines(), file.after.splitlines(), name if file.before else os.devnull, name, lineterm=""
    )
    return list(lines)


def put_in_place(files: Sequence[Rewritten]) -> None:
    """Write all files, or none. Raises `RetargetError`, also for a read-only file, which its owner wants to stay."""
    for file in (one.edit.file for one in files):
        if file.exists() and not (file.stat().st_mode & stat.S_IWUSR and os.access(file, os.W_OK)):
            msg = f"{display_path(file)}: cannot be written: it is read-only; no expectations were written"
            raise RetargetError(msg)
    write_files([(one.edit.file.resolve(), one.after) for one in files], force=True)


def served_suites(files: Iterable[Path], registry: Registry) -> list[Suite]:
    """Read the suites of files as they are declared now, and all others that their rules serve.

    Raises `DiagnosticsError` for a file that has errors: its suites' expectations are not known.
    """
    loader = DeclarationLoader(registry)
    suites: dict[Path, tuple[Suite, ...]] = {file: loader.load_suite_file(file) for file in sorted(files)}
    folders = {file.parent for file in suites}
    folders |= {rule.origin.file.parent for some in suites.values() for one in some for rule in one.expectations}
    for file in FileName.SUITE.below(sorted(folders)):
        if file not in suites:
            suites[file] = loader.load_suite_file(file)
    return [suite for some in suites.values() for suite in some]


def expanded(suite: Suite, registry: Registry) -> SuiteTargets:
    """Return a suite with its targets."""
    checks = registry.artifact_checker(suite.kind) is not None
    return SuiteTargets(suite=suite, targets=expand_suite(suite, registry), checks_artifacts=checks)
