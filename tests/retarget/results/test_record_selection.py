"""`-m` over records: tags and keyword marks, as over targets."""

from __future__ import annotations

import argparse

import pytest
from retarget.cli.results.command import record_filter
from sample_results import passed

RECORD = passed(
    "t",
    tags=("run", "cpu"),
    marks=(("driver", (("name", "vulkan"),)), ("platform", (("os", "linux"), ("arch", "arm64")))),
)


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("", True),
        ("cpu and run", True),
        ("cpu and not run", False),
        ("vulkan", False),
        ("driver", True),
        ("driver(name='vulkan')", True),
        ("driver(name='cuda') or platform(arch='arm64')", True),
        ("platform(os='linux', arch='x86_64')", False),
    ],
)
def test_an_expression_selects_a_record_as_it_selects_its_target(expression: str, chosen: bool) -> None:
    assert record_filter(argparse.Namespace(mark=expression))(RECORD) is chosen
