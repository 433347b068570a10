"""Which jobs an emitted workflow has. Their number is fixed by `ci.toml`; which legs they run is in the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retarget.results import Leg, Plan
from retarget.support import RetargetError

from retarget_ci.schema import CiConfig, Event, Runner

FOLDER = "retarget-ci"
"""Where a job has the plan, artifacts, results and the cache, in the checkout."""

MATRIX_LIMIT = 256
"""Legs of one matrix. https://docs.github.com/actions/reference/limits"""

_LONGEST = 6 * 60 * 60.0
"""Seconds; GitHub's own limit of a job, written where an event has no timeout."""


def jobs_of(config: CiConfig) -> dict[str, list[str]]:
    """Return the matrix jobs that hold as many legs as the runners have capacity for, by the kind of their legs.

    A runner has that many legs of a sort: those that compile, those that run, those that do both.
    """
    legs = {
        "build": sum(runner.capacity for runner in config.runners if runner.builds),
        "run": 2 * sum(runner.capacity for runner in config.runners),
    }
    numbers = {kind: -(-count // MATRIX_LIMIT) for kind, count in legs.items()}
    return {
        kind: [kind] if number == 1 else [f"{kind}-{one}" for one in range(1, number + 1)]
        for kind, number in numbers.items()
    }


def legs_of_jobs(plan: Plan, jobs: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Leg]]:
    """Deal the legs of a plan to the jobs. Raises `RetargetError` if they do not hold them."""
    dealt: dict[str, Sequence[Leg]] = {}
    for kind, names in jobs.items():
        legs = [leg for leg in plan.legs if leg.kind == kind]
        if len(legs) > MATRIX_LIMIT * len(names):
            room = f"the workflow has room for {MATRIX_LIMIT * len(names)}"
            next_step = "plan again with the ci.toml that it was emitted from"
            msg = f"the plan of the event {plan.event!r} has {len(legs)} legs of the kind {kind!r}, {room}; {next_step}"
            raise RetargetError(msg)
        for number, name in enumerate(names):
            dealt[name] = legs[number * MATRIX_LIMIT : (number + 1) * MATRIX_LIMIT]
    return dealt


def home_of(config: CiConfig) -> Runner:
    """Return where a run is planned and verified, which needs no device: the first that builds, else the first."""
    return next((runner for runner in config.runners if runner.builds), config.runners[0])


def leg_minutes(event: Event) -> int:
    """Return when a leg is stopped, in whole minutes."""
    from retarget_ci.files import seconds_of  # imports pydantic

    return max(1, -int(-(seconds_of(event.timeout) if event.timeout else _LONGEST) // 60))
