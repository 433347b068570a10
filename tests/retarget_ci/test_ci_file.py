"""`ci.toml`: what is read, and every error of a file at once."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from retarget.model import Origin
from retarget.support import DiagnosticsError, RetargetError
from retarget_ci.files import CiConfig, EventTable, RunnerTable, WaiverTable, ci_schema, find_ci, read_ci

GOOD = """\
labels = ["ubuntu-24.04", "gpu"]

[[runner]]
name = "linux"
labels = ["ubuntu-24.04"]

[[event]]
name = "pr"
on = ["pull_request"]
budget = "20 min"
"""


def _read(folder: Path, text: str) -> CiConfig:
    file = folder / "ci.toml"
    file.write_text(text)
    return read_ci(file)


def _errors(folder: Path, text: str) -> list[str]:
    with pytest.raises(DiagnosticsError) as raised:
        _read(folder, text)
    return [str(one).replace(f"{folder}/", "") for one in raised.value.diagnostics]


def test_keys_that_are_gone_are_errors_that_name_what_takes_their_place(tmp_path: Path) -> None:
    found = _errors(tmp_path, "only_changed = true\n[[event]]\npaths_ignore = ['docs/**']\n")
    gone = [line for line in found if "in its place" in line]
    assert [line.partition(": found")[0] for line in gone] == [
        "ci.toml:1: only_changed",
        "ci.toml:3: event[0].paths_ignore",
    ]
    reuse = "; in its place `--retarget-reuse-results` takes the results that still hold: docs/ci.md"
    assert all(line.endswith(reuse) for line in gone)


def test_a_file_is_read_as_frozen_data_with_the_location_of_each_table(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    config = _read(
        tmp_path,
        """\
paths = ["suites"]
labels = ["ubuntu-24.04", "gpu"]
setup = ["pip install -e ."]
env = { A = "1" }
emit = ["github"]

[[runner]]
name = "linux"
labels = ["ubuntu-24.04", "gpu"]
builds = true
drivers = ["local-task"]
devices = ["vulkan-lavapipe", "cuda://GPU-1"]
tools = ["qemu-aarch64"]
toolchains = ["*"]
capacity = 4
compiles = 2
setup = ["make toolchains"]
env = { B = "2" }
pytest = ["-vv"]

[[event]]
name = "nightly"
on = ["push", "pull_request"]
branches = ["main"]
schedule = ["0 3 * * *"]
select = "not slow"
budget = "1 h 30 min"
timeout = "90 s"
pytest = ["-x"]

[[waiver]]
select = "cuda"
reason = "no machine"
issue = "https://example.org/7"
until = 2031-01-31
""",
    )
    file = tmp_path / "ci.toml"
    assert config == CiConfig.model_construct(
        file=file,
        paths=["suites"],
        labels=["ubuntu-24.04", "gpu"],
        setup=["pip install -e ."],
        env={"A": "1"},
        emit=["github"],
        runners=[
            RunnerTable(
                name="linux",
                labels=["ubuntu-24.04", "gpu"],
                builds=True,
                drivers=["local-task"],
                devices=["vulkan-lavapipe", "cuda://GPU-1"],
                tools=["qemu-aarch64"],
                toolchains=["*"],
                capacity=4,
                compiles=2,
                setup=["make toolchains"],
                env={"B": "2"},
                pytest=["-vv"],
            )
        ],
        events=[
            EventTable(
                name="nightly",
                on=["push", "pull_request"],
                branches=["main"],
                schedule=["0 3 * * *"],
                select="not slow",
                budget="1 h 30 min",
                timeout="90 s",
                pytest=["-x"],
            )
        ],
        waivers=[
            WaiverTable(select="cuda", reason="no machine", issue="https://example.org/7", until=date(2031, 1, 31))
        ],
    )
    assert config.origin(config.runners[0]) == Origin(file=file, key_path="runner[0]")
    assert config.origin(config.waivers[0]) == Origin(file=file, key_path="waiver[0]")
    assert config.origin() == Origin(file=file, key_path="")


def test_all_errors_of_a_file_are_reported_at_once_with_line_key_and_nearest_name(tmp_path: Path) -> None:
    assert _errors(
        tmp_path,
        """\
labels = ["ubuntu-24.04", "gpu"]
bogus = 1

[[runner]]
name = "linux"
labels = ["ubuntu-24.4"]
archh = "x"
os = "lunix"
devices = ["vulkan-lavapip", "host"]

[[runner]]
labels = "x"

[[event]]
name = "pr"
select = "not ("
budget = "20 mins"

[[event]]
name = "pr"
on = ["pull-request"]
budget = "20 min"

[[waiver]]
select = ""
reason = "x"
""",
    ) == [
        "ci.toml:2: bogus: found the unknown key 'bogus', "
        "expected one of emit, env, event, history, labels, paths, runner, setup, waiver",
        "ci.toml:6: runner[0].labels[0]: found 'ubuntu-24.4', "
        "expected one of the labels of this project (ubuntu-24.04, gpu); did you mean 'ubuntu-24.04'?",
        "ci.toml:7: runner[0].archh: found the unknown key 'archh', expected one of arch, builds, capacity, compiles, "
        "devices, drivers, env, hosts, labels, name, os, pytest, setup, toolchains, tools; did you mean 'arch'?",
        "ci.toml:8: runner[0].os: found 'lunix', expected one of android, ios, linux, macos, windows; "
        "did you mean 'linux'?",
        "ci.toml:9: runner[0].devices[0]: found the device profile 'vulkan-lavapip', "
        "expected a file that ends in .toml or the name of a shipped profile (`retarget profile list`); "
        "did you mean 'vulkan-lavapipe'?",
        "ci.toml:9: runner[0].devices[1]: found 'host', "
        "expected the profile of a device (a file or the name of a shipped one) or its URI",
        "ci.toml:11: runner[1].name: found no such key, expected a string",
        "ci.toml:12: runner[1].labels: found the string 'x', "
        "expected a non-empty array of strings; did you mean ['x']?",
        'ci.toml:14: event[0]: found neither on nor schedule, expected what starts the event, such as on = ["manual"]',
        "ci.toml:16: event[0].select: 'not (': column 6: found the end of line, expected a word, 'not' or '('",
        "ci.toml:17: event[0].budget: found '20 mins', expected a duration above 0 and up to 35 days, "
        "such as '20 min' or '1 h 30 min'",
        "ci.toml:20: event[1].name: found 'pr' a second time, expected it once; event[0] has it",
        "ci.toml:21: event[1].on[0]: found the string 'pull-request', "
        "expected 'pull_request' or 'merge_queue' or 'push' or 'manual'",
        "ci.toml:24: waiver[0].until: found no such key, expected a date without quotes, such as 2031-01-31",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "linux"', 'name = "a b"', "runner[0].name: found 'a b', expected a name: a letter or digit, then "
         "letters, digits and any of . _ + -; did you mean 'a-b'?"),
        ('"gpu"]', '"gpu", "gpu"]', "labels[2]: found 'gpu' a second time, expected it once; labels[1] has it"),
        ('"20 min"', '"0 min"', "event[0].budget: found '0 min', expected a duration above 0 and up to 35 "
         "days, such as '20 min' or '1 h 30 min'"),
        ('"20 min"', f'"{"9" * 400} h"', f"event[0].budget: found '{'9' * 100}', expected a duration above 0 and up to "
         "35 days, such as '20 min' or '1 h 30 min'"),
        ('"gpu"]', '"gpu", "${{ secrets.X }}"]', "labels[2]: found '${{ secrets.X }}', expected the label of a "
         "machine: printable text, and no expression"),
        ('name = "linux"', 'name = "linux"\ncapacity = 1000000000',
         "runner[0].capacity: found 1000000000, expected at most 10000 legs"),
        ('"20 min"', f'"20 min"\nselect = "{"(" * 5000}"',
         f"event[0].select: '{'(' * 200}': column 1: found "
         "parentheses or `not` nested too deeply"),
        ('"20 min"', '"20 min"\nschedule = ["daily"]', "event[0].schedule[0]: found 'daily', expected five fields as "
         "cron has them, such as '0 3 * * *' for 03:00 UTC every day"),
        ('["pull_request"]', '["manual"]\nbranches = ["main"]',
         "event[0].branches: found branches without push or pull_request in on, which they are for"),
        ('labels = ["ubuntu-24.04", "gpu"]', 'labels = ["ubuntu-24.04"]\nenv = { "A B" = "1" }',
         "env.\"A B\": found 'A B', expected the name of an environment variable: letters, digits and _"),
        ('labels = ["ubuntu-24.04", "gpu"]', 'labels = ["ubuntu-24.04"]\npaths = ["../x", "none"]',
         "paths[0]: found '../x', expected a path below the folder of ci.toml"),
    ],
)  # fmt: skip
def test_an_impossible_value_is_an_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    (error, *_) = _errors(tmp_path, GOOD.replace(old, new, 1))
    assert error.partition(": ")[2] == message


@pytest.mark.parametrize("key", ["capacity", "compiles"])
def test_a_runner_does_one_thing_at_a_time_at_least(tmp_path: Path, key: str) -> None:
    one, none = (GOOD.replace('"linux"\n', f'"linux"\n{key} = {number}\n') for number in (1, 0))
    assert getattr(_read(tmp_path, one).runner("linux"), key) == 1
    (error,) = _errors(tmp_path, none)
    assert error == f"ci.toml:5: runner[0].{key}: found the integer 0, expected an integer of at least 1"


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (error,) = _errors(tmp_path, 'paths = ["suites"]\n' + GOOD)
    assert error.startswith("ci.toml:1: paths[0]: found no file or folder 'suites' in ")


def test_the_file_of_the_nearest_folder_is_found_and_none_beyond_the_checkout(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "ci.toml").write_text(GOOD)
    assert find_ci(inner) == tmp_path / "ci.toml"
    (tmp_path / "a" / ".git").mkdir()
    with pytest.raises(RetargetError, match=r"^found no ci\.toml in .*; write one \(docs/ci\.md has an example\)$"):
        find_ci(inner)


def test_the_schema_for_editors_takes_what_the_reader_takes_and_describes_every_key() -> None:
    schema = json.loads(ci_schema())
    Draft202012Validator.check_schema(schema)
    tables = [schema, *schema["$defs"].values()]
    assert [key for table in tables for key, value in table["properties"].items() if not value.get("description")] == []
    good = {
        "labels": ["x"],
        "runner": [{"name": "a", "labels": ["x"]}],
        "event": [{"name": "pr", "on": ["push"], "budget": "1 h"}],
    }
    validator = Draft202012Validator(schema)
    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"bogus": 1})
