"""Rules are written from results: of the session that runs, or of sessions on several machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from retarget.expect.diagnostics import expired_diagnostics
from retarget.expect.update.by_case import CasesSeen
from retarget.expect.update.edited_rules import Key, SuiteTargets, key_of
from retarget.expect.update.edits import Rewritten, diff, expanded, put_in_place, rewritten, served_suites
from retarget.expect.update.plan import Devices, Kept, on_devices, plan_update
from retarget.extension.registry import Registry
from retarget.model.outcomes import Observation, Stage
from retarget.results.record import DeviceRecord, Outcome, Result, TargetRecord
from retarget.support.checkout import incomplete
from retarget.support.errors import RetargetError, display_path
from retarget.support.text import counted
from retarget.targets.expansion import compile_target_name

_NAMED = 4
"""How many entries that match nothing are named; the others are counted."""

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class RuleUpdate:
    """Collects what was observed, and writes the rules. `left_over` says then that something is left to a person."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Key, Devices], Observation | None] = {}
        self._compiled: dict[tuple[Key, Devices], Observation | None] = {}
        self._cases: dict[tuple[Key, Devices], CasesSeen] = {}
        self._reported: set[Key] = set()
        self.files: set[Path] = set()
        self.left_over = False

    def add(self, record: TargetRecord) -> None:
        """Keep what was observed of a target on its devices. A later record of it there replaces an earlier one."""
        key = (record.suite, record.target)
        self.files.add(Path.cwd() / record.file)
        self._reported.add(key)
        if record.result is Result.UNKNOWN:
            return
        seen = record.observation if record.result is Result.FAILED else None
        compiled_for = _devices(record.compile.devices if record.compile is not None else ())
        compiled = (record.suite, compile_target_name(record.module, record.compiler)), compiled_for
        if record.runtime and record.stage == Stage.COMPILE:
            self._compiled[compiled] = seen
            return
        place = key, _devices(record.devices) if record.runtime else compiled_for
        self._seen[place] = seen
        self._cases.pop(place, None)
        self._keep_cases(place, record)
        if record.runtime:
            self._compiled.setdefault(compiled, None)

    def _keep_cases(self, place: tuple[Key, Devices], record: TargetRecord) -> None:
        seen = {
            one.name: Observation(stage=one.stage, signature=one.signature) if one.stage else None
            for one in record.cases
            if one.outcome is not Outcome.NOT_RUN and not one.no_verdict
        }
        if seen:
            names = tuple(one.name for one in record.cases)
            self._cases[place] = CasesSeen(names=names, seen=seen, is_selection=bool(record.missing_cases))

    def write(self, registry: Registry, *, in_full: bool) -> Iterator[tuple[str, str]]:
        """Write the rules, and yield what to say of it as (line, colour) pairs; `in_full` names all that is counted.

        Raises `RetargetError` where nothing is written.
        """
        suites = served_suites(self.files, registry)
        if unknown := dict.fromkeys(text for suite in suites for text in registry.unknown(suite)):
            msg = "\n".join([*unknown, "expectations: nothing was written, because without these nothing is known"])
            raise RetargetError(msg)
        everything = [expanded(suite, registry) for suite in suites]
        seen = {**self._compiled, **self._seen}
        placed, names = on_devices(everything, seen)
        update = plan_update(
            placed,
            {name: seen[place] for place, name in names.items()},
            doubt=lambda file: self._doubt(file.parent, everything),
            cases={name: self._cases[place] for place, name in names.items() if place in self._cases},
        )
        files = rewritten(update.edits)
        for file in files:
            yield from ((line, _COLOURS.get(line[:1], "")) for line in diff(file))
        put_in_place(files)
        yield from ((_changes_text(file), "") for file in files)
        if not files:
            yield f"expectations: nothing to change, {counted(len(update.excused), 'failure')} as expected", ""
        if update.left:
            which = ", ".join(name for _, name in update.left[:8]) + (", …" if len(update.left) > 8 else "")
            yield f"expectations: left to you, as flaky, intermittent or past their date: {which}", "yellow"
        yield from ((_kept_text(kept, in_full=in_full), "yellow") for kept in update.kept)
        now = served_suites(self.files, registry) if files else suites  # rules went, others are on other lines
        rules = {rule.origin: rule for suite in now for rule in suite.expectations}.values()
        expired = expired_diagnostics(rules)
        yield from ((str(diagnostic), "red") for diagnostic in expired)
        self.left_over = bool(update.left or expired)

    def _doubt(self, folder: Path, suites: Iterable[SuiteTargets]) -> str:
        """Why it is unknown here that something the rules of a folder name is gone; empty if it is known."""
        served = [one for one in suites if one.suite.folder.is_relative_to(folder)]
        left_out = sum(key_of(target) not in self._reported for one in served for target in one.targets)
        if left_out:
            return f"this run left out {counted(left_out, 'target')} of the suites there"
        return incomplete(folder, (module.path for one in served for module in one.suite.modules))


def _devices(records: Iterable[DeviceRecord]) -> Devices:
    return tuple(record.traits for record in records)


def _kept_text(kept: Kept, *, in_full: bool) -> str:
    count = len(kept.entries)
    names = ", ".join(map(repr, kept.entries if in_full else kept.entries[:_NAMED]))
    names += ", … (-vv shows all)" if count > _NAMED and not in_full else ""
    what = "entry of `match` matches" if count == 1 else "entries of `match` match"
    return (
        f"expectations: {count} {what} nothing here and stay{'s' if count == 1 else ''} in {display_path(kept.file)}: "
        f"{names}; {kept.doubt}, so they may be missing rather than gone: remove by hand what is gone"
    )


def _changes_text(file: Rewritten) -> str:
    edit = file.edit
    rules, targets = counted(edit.rules, "rule"), counted(edit.targets, "target")
    changed = len(edit.changes) - edit.removed
    counts = f"+{len(edit.new)}, -{edit.removed}, ~{changed}"
    return f"expectations: {rules} for {targets} in {display_path(edit.file)} ({counts})"
