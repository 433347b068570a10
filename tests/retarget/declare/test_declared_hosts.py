"""Hosts in declarations: what each kind needs, references, and the words of the targets that run on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime, suite, table, target
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import Registry
from retarget.model import RuntimeConfig, Suite
from retarget.targets.availability import host_mismatch
from retarget.targets.expansion import expand_suite

BOARD = table("host", name="board-{n}", kind="ssh", address="ci@board{n}", tags=["lab"], axes={"n": [1, 2]})
COMMANDS = {"push": ["cp", "{local}", "x:{remote}"], "pull": ["cp", "{remote}", "{local}"], "run": ["x", "{command}"]}


def read(folder: Path, *tables: str) -> tuple[tuple[Suite, ...], list[str]]:
    """Return the suites of a file, and its errors."""
    (folder / "m.mlir").touch()
    rest = (compiler("c"), target("all", "c", ["r"]), suite("s"))
    (folder / "suite.toml").write_text(declarations(*tables, *rest))
    suites, found = DeclarationLoader(Registry()).read_suite_file(folder / "suite.toml")
    return suites, [str(one).replace(f"{folder}/", "") for one in found]


def config(suites: tuple[Suite, ...]) -> RuntimeConfig:
    return suites[0].targets[0].runtimes[0]


def test_a_runtime_config_names_its_host_and_the_targets_have_its_words(tmp_path: Path) -> None:
    suites, errors = read(tmp_path, BOARD, runtime("r", host="board-2", host_os="android"))
    assert errors == []
    host = config(suites).host
    assert host is not None
    assert (host.name, host.kind, host.address, host.identity) == ("board-2", "ssh", "ci@board2", "ssh ci@board2")
    (ran,) = [one for one in expand_suite(suites[0], Registry()) if one.name == "m_c_r"]
    assert {"board-2", "lab", "android"} <= set(ran.tags)
    assert host_mismatch(config(suites)) is None  # the host answers that itself


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "shh", "address": "b"},
         "kind: found 'shh', expected one of ssh, adb, command; did you mean 'ssh'?"),
        ({"kind": "adb", "tags": ["a b"]},
         "tags[0]: found 'a b', expected a word for -m: letters, digits and any of _ : + - . [ ] / \\"),
        ({"kind": "ssh"}, "address: found no address, which a host of the kind 'ssh' needs"),
        ({"kind": "ssh", "address": "b", "run": ["x"]},
         "run: found run in a host of the kind 'ssh', expected it for 'command' only"),
        ({"kind": "command", **COMMANDS, "address": "b"},
         "address: found address in a host of the kind 'command', expected it for 'ssh' or 'adb' only"),
        ({"kind": "command", **COMMANDS, "pull": []},
         "pull: found no pull, which a host of the kind 'command' needs"),
        ({"kind": "command", **COMMANDS, "push": ["cp"]},
         "push: found no {local} and no {remote} in the command, expected them in it"),
        ({"kind": "adb", "folder": "~/x"},
         "folder: found '~/x', expected an absolute path, or one relative to the home folder"),
        ({"kind": "adb", "env": {'"A=B"': "c"}},
         "env.\"A=B\": found 'A=B', expected the name of an environment variable, without '='"),
        ({"kind": "adb", "serial": "x"}, "serial: found the unknown key 'serial'"),
    ],
)  # fmt: skip
def test_a_wrong_host_is_reported_with_its_line_and_key(tmp_path: Path, given: dict[str, object], message: str) -> None:
    _, errors = read(tmp_path, table("host", name="b", **given), runtime("r", host="b"))
    (error,) = errors
    place, _, rest = error.partition("host[0].")
    assert (place.split(":")[0], rest.startswith(message)) == ("suite.toml", True), rest
