"""Which legs the jobs of an emitted workflow run, and where and how long."""

from __future__ import annotations

from collections.abc import Sequence

from retarget.results import Leg, Plan
from retarget.support import RetargetError

from retarget_ci import CI_FILE
from retarget_ci.schema import CiConfig, Event, Runner

FOLDER = "retarget-ci"
"""Where a job has the plan, artifacts, results and the cache, in the checkout."""

MATRIX_LIMIT = 256
"""Legs of one matrix. https://docs.github.com/actions/reference/limits"""

_LONGEST = 6 * 60 * 60.0
"""Seconds; GitHub's own limit of a job, written where an event has no timeout."""


def legs_of_jobs(plan: Plan) -> dict[str, Sequence[Leg]]:
    """Return the legs of each matrix job, by their kind. Raises `RetargetError` for more than a matrix holds."""
    jobs: dict[str, Sequence[Leg]] = {kind: [leg for leg in plan.legs if leg.kind == kind] for kind in ("build", "run")}
    for kind, legs in jobs.items():
        if len(legs) > MATRIX_LIMIT:
            expected = f"expected at most {MATRIX_LIMIT}, which a matrix of GitHub holds: lower capacities in {CI_FILE}"
            msg = f"the plan of the event {plan.event!r} has {len(legs)} legs of the kind {kind!r}, {expected}"
            raise RetargetError(msg)
    return jobs


def home_of(config: CiConfig) -> Runner:
    """Return where a run is planned and verified, which needs no device: the first that builds, else the first."""
    return next((runner for runner in config.runners if runner.builds), config.runners[0])


def leg_minutes(event: Event) -> int:
    """Return when a leg is stopped, in whole minutes."""
    from retarget_ci.files import seconds_of  # imports pydantic

    return max(1, -int(-(seconds_of(event.timeout) if event.timeout else _LONGEST) // 60))
