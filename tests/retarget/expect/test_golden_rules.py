"""Golden rules: how they are declared, which one is in force, which ones are errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, load_all, runtime, suite, target
from retarget.cli import main
from retarget.model import Golden
from retarget.model.metrics import Metric

Write = Callable[[str], None]


@pytest.fixture
def write(cwd: Path) -> Write:
    """Write a project with two modules, and the golden rules of its `expectations.toml`."""

    def write_rules(text: str) -> None:
        configs = declarations(
            "root = true\n", compiler("vmvx", tags=["portable"]), runtime("sync"), target("all", "vmvx", ["sync"])
        )
        (cwd / "suite.toml").write_text(configs.replace("root = true\n", "") + suite("s"))
        for name in ("add", "sub"):
            (cwd / f"{name}.mlir").write_text("")
        (cwd / "expectations.toml").write_text(text)

    return write_rules


def golden(text: str) -> str:
    return '[[golden]]\nreason = "r"\n' + text.replace("; ", "\n") + "\n"


def goldens() -> Sequence[Golden]:
    return load_all([Path()])[0].goldens


def test_rules_become_data(write: Write) -> None:
    write(
        golden('match = "add"; when = "portable and run"; metric = "latency"; within = "10 %"')
        + golden('match = ["a*", "sub"]; metric = "artifact-size"; max = "8 MiB"; until = 2031-01-31; issue = "i"')
        + golden('match = "*"; metric = "dispatches"; max = 3')
    )
    latency, size, dispatches = goldens()
    assert (latency.match, latency.when, latency.metric) == (("add",), "portable and run", Metric.LATENCY)
    assert (latency.within, latency.most) == (0.1, None)
    assert (size.most, size.until, size.issue) == (8 * 2**20, date(2031, 1, 31), "i")
    assert (dispatches.most, dispatches.origin.key_path) == (3.0, "golden[2]")
    assert [one.bound for one in (latency, size, dispatches)] == [
        "latency within 10 % of the baseline",
        "artifact-size at most 8 MiB",
        "dispatches at most 3",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            golden('match = "ad"; metric = "latency"; max = "1 s"'),
            "expectations.toml:3: golden[0].match: found 'ad', which names no module that this rule serves; "
            "did you mean 'add'?",
        ),
        (
            golden('match = "add"; when = "run"; metric = "dispatches"; max = 1'),
            "expectations.toml:3: golden[0].match: found 'add', which with 'run' matches no target that has the "
            "metric dispatches, one of compile targets; remove it",
        ),
        (
            golden('match = "add"; metric = "dispatches"; max = 1; until = 2001-01-31'),
            "expectations.toml:6: golden[0].until: found 2001-01-31, which is past; this rule bounds nothing any more: "
            "decide anew what the bound is, or take the rule out (r)",
        ),
        (
            2 * golden('match = "add"; metric = "dispatches"; max = 1').replace("1\n", "1\n", 1)
            + golden('match = "add"; metric = "dispatches"; max = 2'),
            "expectations.toml:11: golden[2]: found another bound or date than golden[0] at expectations.toml:1, which "
            "is as specific and also matches add_vmvx; expected that they agree, or that one is more specific",
        ),
    ],
)
def test_check_names_rules_that_have_no_effect_or_contradict(
    write: Write, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    write(text)
    assert main(["check", "."]) == 1
    assert capsys.readouterr().err.splitlines() == [message]
