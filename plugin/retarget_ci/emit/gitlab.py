"""GitLab: a pipeline that plans, and the pipeline of the legs, which GitLab calls its child.

GitLab's matrices are fixed text, of at most 200 jobs. So the plan is written as a pipeline with a job per leg
(`child_pipeline`), which always has jobs that copy the plan and verify. Both are JSON, which is YAML, but for comments.
https://docs.gitlab.com/ci/pipelines/downstream_pipelines/#dynamic-child-pipelines
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from retarget.results import Leg, Plan

from retarget_ci.emit.jobs import FOLDER, home_of, leg_minutes
from retarget_ci.schema import CiConfig, Event

_IMAGE = "python:3.12"
_MINUTES = "30 minutes"
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
        jobs[plan] = {
            "stage": "build",
            "image": _IMAGE,
            "interruptible": True,
            "tags": list(home_of(config).labels),
            "rules": rules,
            "timeout": _MINUTES,
            "variables": dict(config.env),
            "script": [
                *config.setup,
                f"retarget ci plan --event {event.name} -o {_PLAN}",
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
    home = {"tags": list(home_of(config).labels), "timeout": _MINUTES, "image": _IMAGE}
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
            f"retarget results show {FOLDER}/results || true",
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
