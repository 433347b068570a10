"""`--retarget-plan FILE --retarget-leg NAME`: the targets of one leg of a plan, and nothing else.

A leg that cannot be run as it was planned is not run at all: what it lacks would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from retarget.results import Leg, Plan, read_plan
from retarget.support import RetargetError, did_you_mean, display_path, listed

from pytest_retarget.collect.requirements import Refusing
from pytest_retarget.items.targets import MatrixItem
from pytest_retarget.options.settings import SETTINGS, Settings, usage_errors

_named = partial(listed, most=5)
"""The first legs or targets of some, for a message."""


class PlannedLeg(Refusing):
    """The hooks of one session."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        """Raises `pytest.UsageError` for a plan that cannot be read, and a leg that it does not have."""
        super().__init__(config, "retarget_plan")
        with usage_errors():
            self.plan, self.leg = _planned(config.stash[SETTINGS], file)
        self.plan_digest = self.plan.digest

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect what the leg does not have. Raises `pytest.UsageError` where it has what was not collected."""
        ids = frozenset(self.leg.ids)
        mine = [item for item in items if item.nodeid in ids and isinstance(item, MatrixItem)]
        others = [item for item in items if item.nodeid not in ids or not isinstance(item, MatrixItem)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = mine
        if not session.testsfailed:  # a file that was not collected is the error to show
            self.refuse(self._errors_of(mine), items)

    def _errors_of(self, items: Sequence[MatrixItem]) -> list[str]:
        leg, errors = self.leg, []
        if missing := sorted(frozenset(leg.ids) - {item.nodeid for item in items}):
            given = " ".join(self.plan.paths)
            errors.append(
                f"--retarget-leg {leg.name}: {len(missing)} of its {len(leg.ids)} targets were not collected: "
                f"{_named(missing)}; the plan is of other declarations (write it again with `retarget ci plan`), "
                f"or pytest was not given all of its paths: {given}"
            )
        is_build = leg.kind == "build"
        one_sort = is_build or bool(leg.needs)  # a leg that runs without the artifacts of another one compiles, too
        if one_sort and (wrong := [item.nodeid for item in items if (item.target.runtime is None) != is_build]):
            what = "compile targets alone in a build leg" if is_build else "run targets alone in a leg with artifacts"
            errors.append(f"--retarget-leg {leg.name}: expected {what}, found {_named(wrong)}")
        return errors


def _planned(settings: Settings, file: Path) -> tuple[Plan, Leg]:
    """Return the plan and its leg. Raises `RetargetError`."""
    plan = read_plan(file)
    path, names = display_path(file), [leg.name for leg in plan.legs]
    if not settings.leg:
        msg = f"--retarget-plan was given without --retarget-leg; expected the leg to run, one of {_named(names)}"
        raise RetargetError(msg)
    leg = plan.leg(settings.leg)
    if leg is None:
        expected = f"expected one of {_named(names)}" if names else "the plan has no leg"
        msg = f"--retarget-leg: found {settings.leg!r}, {expected} ({path}){did_you_mean(settings.leg, names)}"
        raise RetargetError(msg)
    artifacts = settings.artifacts is not None
    if leg.kind == "build" and artifacts:
        msg = f"--retarget-leg {leg.name} compiles, and --retarget-artifacts compiles nothing; expected one of them"
        raise RetargetError(msg)
    if leg.kind == "run" and leg.needs and not artifacts:
        msg = (
            f"--retarget-leg {leg.name} runs what the legs {_named(leg.needs)} compile; expected --retarget-artifacts "
            "with the folder that they wrote by --retarget-export"
        )
        raise RetargetError(msg)
    return plan, leg
