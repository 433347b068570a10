"""`retarget results update`: the expectations of suites, made to say what results show, on several devices alike."""

from __future__ import annotations

import argparse
from pathlib import Path

from retarget.cli.results import show
from retarget.extension.registry import load_extensions
from retarget.results.files import attempts_of
from retarget.results.rule_update import RuleUpdate
from retarget.support.errors import RetargetError, display_path


def add(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare `update`."""
    does = "change expectations to what results show, as pytest --retarget-update-expectations does for its own"
    epilog = "of several results of a target on one device the last counts; where devices differ, rules say on(…)"
    parser = actions.add_parser("update", help=does, description=f"{does}; run it where pytest ran", epilog=epilog)
    show.add_paths(parser)
    parser.set_defaults(act=_update)


def _update(arguments: argparse.Namespace) -> int:
    update = RuleUpdate()
    for session in sorted(show.read_sessions(arguments.paths), key=lambda one: (one.start.started, one.start.session)):
        if not session.is_complete:
            files = ", ".join(map(display_path, session.files))
            msg = f"{files}: found a session that did not end, which may say too little: run it again, or leave it out"
            raise RetargetError(msg)
        for _, records in sorted(attempts_of([session]).items()):
            update.add(records[-1])
    for line, _ in update.write(load_extensions((), folders=[Path.cwd()]), in_full=False):
        print(line)
    return 1 if update.left_over else 0
