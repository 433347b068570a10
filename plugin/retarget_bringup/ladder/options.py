"""The options `--check`, `--raise` and `--lower` of `retarget bringup NAME`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from msgspec.structs import replace
from retarget.support.errors import RetargetError, display_path
from retarget.support.text import counted

from retarget_bringup.ladder.check import check, lowered, raised, summary
from retarget_bringup.ladder.devices import Devices
from retarget_bringup.ladder.files import Ladder, committed_lines, read_ladder, write_ladder
from retarget_bringup.ladder.settings import Settings
from retarget_bringup.ladder.states import TargetState


def add_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the options, in a group of options that exclude each other."""
    parser.add_argument(
        "--check", action="store_true", help="fail where a target is lower than bringup/NAME.ladder says: for CI"
    )
    parser.add_argument(
        "--raise", dest="raises", action="store_true", help="write what was reached to bringup/NAME.ladder"
    )
    parser.add_argument(
        "--lower", default="", metavar="TARGET", help="let a target that fell, or a glob over ids, be as low as it is"
    )


def apply_options(
    settings: Settings,
    ladder: Ladder,
    states: Sequence[TargetState],
    *,
    raises: bool = False,
    lower: str = "",
    reason: str = "",
) -> int:
    """Check a ladder against states, raised before where `raises` says so, or with the target `lower` lowered for a
    `reason`; print what does not hold, and return the exit status.

    Raises `RetargetError` for a ladder that cannot be written, or merged, and for a target that did not fall.
    """
    name = display_path(ladder.file)
    devices = Devices(states, ladder.devices)
    lines = devices.notes(raises=raises)
    if lower and ladder.unsettled:
        raise RetargetError("\n".join(map(str, ladder.unsettled)))
    now = None
    if lower:
        now = lowered(ladder, states, lower, reason)
    elif raises and any(one.rung is not None for one in states):
        now = raised(ladder, states, committed_lines(ladder.file))
    if now is not None:
        changed = write_ladder(ladder.file, now.lines, devices.after(changed=raises and bool(now.changes)))
        counts = ", ".join(f"{count} {what}" for what, count in now.changes.items())
        lines.append(f"{name}: {'written' if changed else 'unchanged'}{f': {counts}' if counts else ''}")
        ladder = read_ladder(ladder.file)
        by_id = {line.target: line for line in ladder.lines}
        states = [replace(one, line=by_id.get(one.id)) for one in states]
    checked = check(settings, ladder, states, elsewhere=devices.elsewhere)
    lines += [*checked.notes, *checked.failures, *checked.to_raise, summary(settings.name, states)]
    problems = counted(len(checked.failures) + len(checked.to_raise), "problem")
    lines.append(f"{name} holds" if checked.holds else f"{name} does not hold: {problems}")
    if checked.to_raise:
        lines[-1] += f"; `retarget bringup {settings.name} --raise` settles {len(checked.to_raise)} of them"
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if checked.holds else 1
