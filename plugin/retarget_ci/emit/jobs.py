"""Which jobs an emitted workflow has. Their number is fixed by `ci.toml`; which legs they run is in the plan.

Workflows of GitHub Actions: one per event.

An expression of a workflow holds only names from `ci.toml`, which are plain words; names of targets and what a compiler
prints stay in files.

GitLab: a pipeline that plans, and the pipeline of the legs, which GitLab calls its child.

GitLab's matrices are fixed text, of at most 200 jobs. So the plan is written as a pipeline with a job per leg
(`child_pipeline`), which always has jobs that copy the plan and verify. Both are JSON, which is YAML, but for comments.
https://docs.gitlab.com/ci/pipelines/downstream_pipelines/#dynamic-child-pipelines
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget.results import Leg, Plan
from retarget.support import RetargetError, install_hint

from retarget_ci.schema import CiConfig, Event, Runner

if TYPE_CHECKING:
    import jinja2


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
    from retarget_ci.files.tables import seconds_of  # imports pydantic

    return max(1, -int(-(seconds_of(event.timeout) if event.timeout else _LONGEST) // 60))


_ACTIONS = {
    "cache_restore": "actions/cache/restore@0057852bfaa89a56745cba8c7296529d2fc39830  # v4.3.0",
    "cache_save": "actions/cache/save@0057852bfaa89a56745cba8c7296529d2fc39830  # v4.3.0",
    "checkout": "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8  # v5.0.0",
    "download_artifact": "actions/download-artifact@018cc2cf5baa6db3ef3c5f8a56943fffe632ef53  # v6.0.0",
    "setup_python": "actions/setup-python@e797f83bcb11b83ae66e0230d6156d7c80228e7c  # v6.0.0",
    "upload_artifact": "actions/upload-artifact@330a01c490aca151604b8cf639adc76d48f6c5d4  # v5.0.0",
}
"""By commit: a tag can be moved."""

_PYTHON = "3.12"
_CACHE_KEY = "retarget-${{ matrix.leg }}-${{ github.run_id }}-${{ github.run_attempt }}"

_MINUTES = 30
"""For a job that only plans or verifies, with its setup."""

_SINCE = " ${{ github.event_name == 'pull_request' && '--since HEAD^1' || '' }}"
"""A pull request is checked out as its merge, whose first parent is the branch that it is for."""


def github_workflow(config: CiConfig, event: Event, header: str) -> str:
    """Return the workflow of an event. Raises `RetargetError` where Jinja is missing."""
    jobs = jobs_of(config)
    return _template().render(
        actions=_ACTIONS,
        builders=[runner for runner in config.runners if runner.builds],
        builds=jobs["build"],
        cache_key=_CACHE_KEY,
        commands=_block,
        config=config,
        event=event,
        folder=FOLDER,
        header=header,
        history=shlex.quote(config.history_of(event)) if config.history else "",
        history_folder="" if "://" in config.history else config.history_of(event),
        home=home_of(config),
        leg_minutes=leg_minutes(event),
        minutes=_MINUTES,
        python=_PYTHON,
        runs=jobs["run"],
        since=_SINCE if event.only_changed else "",
        text=_text,
        triggers=_triggers(event),
    )


@cache
def _template() -> jinja2.Template:
    try:
        import jinja2
    except ImportError as error:
        msg = f"`retarget ci emit` needs Jinja, which is not here; {install_hint('report')}"
        raise RetargetError(msg) from error
    environment = jinja2.Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  (YAML, not HTML: each text goes through `text` or `commands`)
    )
    return environment.from_string(Path(__file__).with_name("github.yml.jinja").read_text(encoding="utf-8"))


def _triggers(event: Event) -> dict[str, Any]:
    branches = {"branches": list(event.branches)} if event.branches else {}
    found: dict[str, Any] = {}
    if "pull_request" in event.on:
        found["pull_request"] = branches
    if "merge_queue" in event.on:
        found["merge_group"] = {}
    if "push" in event.on:
        found["push"] = branches or {"branches": ["**"]}  # not tags
    if event.schedule:
        found["schedule"] = [{"cron": cron.strip()} for cron in event.schedule]
    if "manual" in event.on:
        found["workflow_dispatch"] = {}
    return found


def _text(value: object) -> str:
    """Return a value as JSON, which is YAML on one line."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _block(commands: Sequence[str], indent: int) -> str:
    """Return shell commands as a YAML block; as JSON text where a block cannot hold them."""
    lines = [line.rstrip() for command in commands for line in command.strip().split("\n")]
    if not all(line.isprintable() for line in lines):
        return json.dumps("\n".join(lines))
    return "\n".join(["|", *(f"{' ' * indent}{line}".rstrip() for line in lines)])


_IMAGE = "python:3.12"
_GITLAB_TIMEOUT = "30 minutes"
_PLAN = f"{FOLDER}/plan.json"
_CHILD = f"{FOLDER}/legs.yml"

_NOTES = """\
# In .gitlab-ci.yml: include: [{local: .gitlab/retarget.yml}]
# A pipeline that a schedule or a person starts runs the event that its variable RETARGET_EVENT names.
"""

_SOURCES = {"pull_request": "merge_request_event", "merge_queue": "merge_request_event", "push": "push"}


def gitlab_pipeline(config: CiConfig, header: str) -> str:
    """Return the jobs that plan each event and start its legs. The next two lines say how it is used."""
    jobs: dict[str, Any] = {}
    for event in config.events:
        rules = _rules(event)
        plan = f"plan {event.name}"
        since = ' ${CI_MERGE_REQUEST_DIFF_BASE_SHA:+--since "$CI_MERGE_REQUEST_DIFF_BASE_SHA"}'
        jobs[plan] = {
            "stage": "build",
            "image": _IMAGE,
            "interruptible": True,
            "tags": list(home_of(config).labels),
            "rules": rules,
            "timeout": _GITLAB_TIMEOUT,
            "variables": {**dict(config.env), **({"GIT_DEPTH": "0"} if event.only_changed else {})},
            "script": [
                *config.setup,
                f"retarget ci plan --event {event.name} -o {_PLAN}{since if event.only_changed else ''}",
                f"retarget ci legs {_PLAN} --format gitlab > {_CHILD}",
            ],
            "artifacts": {"paths": [_PLAN, _CHILD]},
            **_history_cache(config, event, "pull"),
        }
        jobs[f"legs {event.name}"] = {
            "stage": "test",
            "needs": [plan],
            "rules": rules,
            "variables": {"PARENT_PIPELINE_ID": "$CI_PIPELINE_ID", "PARENT_SOURCE": "$CI_PIPELINE_SOURCE"},
            "trigger": {"include": [{"artifact": _CHILD, "job": plan}], "strategy": "depend"},
        }
    return f"{header}\n{_NOTES}{_yaml(jobs)}"


def _rules(event: Event) -> list[dict[str, str]]:
    rules = []
    for on in event.on:
        if on in _SOURCES:
            branch = "$CI_COMMIT_BRANCH" if on == "push" else "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
            globs = "|".join(_pattern(glob) for glob in event.branches)
            only = f" && {branch} =~ /^({globs})$/" if globs else ""
            rules.append({"if": f'$CI_PIPELINE_SOURCE == "{_SOURCES[on]}"{only}'})
    if event.schedule or "manual" in event.on:
        rules.append({"if": f'$RETARGET_EVENT == "{event.name}"'})
    return list({rule["if"]: rule for rule in rules}.values())


def _pattern(glob: str) -> str:
    """Return a glob over branches as a regular expression, as RE2 and Ruby read it between slashes."""
    words = {"*": ".*", "?": ".", "/": r"\/"}
    return "".join(words.get(one, one if one.isalnum() or one in "-_" else f"\\{one}") for one in glob)


def child_pipeline(config: CiConfig, plan: Plan) -> str:
    """Return the pipeline of the legs of a plan."""
    event = config.event(plan.event)
    home = {"tags": list(home_of(config).labels), "timeout": _GITLAB_TIMEOUT, "image": _IMAGE}
    jobs: dict[str, Any] = {
        "stages": ["plan", "build", "run", "verify"],
        "variables": dict(config.env),
        "plan": {
            **home,
            "stage": "plan",
            "needs": [{"pipeline": "$PARENT_PIPELINE_ID", "job": f"plan {event.name}"}],
            "script": [f"test -f {_PLAN}"],
            "artifacts": {"paths": [_PLAN]},
        },
    }
    for leg in plan.legs:
        jobs[f"leg {leg.name}"] = _leg(config, event, leg)
    history = shlex.quote(config.history_of(event))
    page = f"retarget report {FOLDER}/results --plan {_PLAN} -o {FOLDER}/report"
    add = f'[ "$PARENT_SOURCE" = merge_request_event ] || retarget history add {FOLDER}/results --to {history}'
    jobs["verify"] = {
        **home,
        "stage": "verify",
        "when": "always",
        **({"variables": {"RETARGET_RESULTS": f"{FOLDER}/results"}} if event.verify else {}),
        "script": [
            *config.setup,
            f"retarget ci summary --plan {_PLAN} --results {FOLDER}/results || true",
            f"{page}{f' --history {history}' if config.history else ''} || true",
            *([f"{add} || true"] if config.history else []),
            "retarget ci verify || lost=1",
            f"retarget ci verify --plan {_PLAN} --results {FOLDER}/results || lost=1",
            *(f"{command} || lost=1" for command in event.verify),
            'test -z "$lost"',
        ],
        "artifacts": {"when": "always", "paths": [f"{FOLDER}/report"]},
        **_history_cache(config, event, "pull-push"),
    }
    return json.dumps(jobs, indent=1, ensure_ascii=False) + "\n"


def _history_cache(config: CiConfig, event: Event, policy: str) -> Mapping[str, Any]:
    """Return the cache of a job that reads an event's history, or adds to it; none where that is no folder."""
    if not config.history or "://" in config.history:
        return {}
    paths = [config.history_of(event)]
    return {"cache": {"key": f"retarget-history-{event.name}", "paths": paths, "policy": policy, "when": "always"}}


def _leg(config: CiConfig, event: Event, leg: Leg) -> Mapping[str, Any]:
    runner = config.runner(leg.runner)
    results, artifacts = f"{FOLDER}/results/{leg.name}", f"{FOLDER}/artifacts"
    is_build = leg.kind == "build"
    return {
        "stage": leg.kind,
        "image": _IMAGE,
        "interruptible": True,
        **({} if is_build else {"when": "always"}),  # what compiled is run, whatever else did not
        "tags": list(leg.labels),
        "timeout": f"{leg_minutes(event)} minutes",
        "variables": {**dict(runner.env), "LEG": leg.name, "RETARGET_CACHE_DIR": f"{FOLDER}/cache"},
        "script": [
            *config.setup,
            *runner.setup,
            f'retarget ci run {_PLAN} "$LEG" --results "{FOLDER}/results/$LEG" --artifacts {artifacts}',
        ],
        "artifacts": {"when": "always", "paths": [results, artifacts] if is_build else [results]},
        **(
            {"cache": {"key": f"retarget-{leg.name}", "paths": [f"{FOLDER}/cache"], "when": "always"}}
            if not leg.needs
            else {}
        ),
    }


def _yaml(jobs: Mapping[str, Any]) -> str:
    """Return jobs as YAML: a line per key of a job, its value as JSON."""
    lines = []
    for name, job in jobs.items():
        lines += ["", f"{json.dumps(name)}:"]
        lines += [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in job.items() if value != {}]
    return "\n".join(lines).lstrip("\n") + "\n"
