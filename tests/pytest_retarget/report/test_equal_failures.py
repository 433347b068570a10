"""Which failures are alike; what of their texts is not compared: addresses, durations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pytest_retarget.items.targets import text_repr
from pytest_retarget.record import RECORD
from pytest_retarget.report.equal_failures import _key
from retarget.model import Observation
from retarget.results import Outcome, Result, TargetRecord

DUMPS = ("%0 = foo.conv(%a) : tensor<3xf32>", "%7 = foo.conv(%b, %c) : tensor<9xi8>")
CRASHED = "compile: iree crashed: SIGABRT in {}\n\nwhile it read {}"


def key(text: str, name: str, *, stage: str, signature: str) -> object:
    record = TargetRecord(
        nodeid=name,
        target=name,
        module=name,
        compiler="vmvx",
        outcome=Outcome.FAILED,
        result=Result.FAILED,
        observation=Observation(stage=stage, signature=signature),
    )
    report = SimpleNamespace(nodeid=record.nodeid, when="call", failed=True, longrepr=text_repr(text, "suite.toml"))
    setattr(report, RECORD, record)
    return _key(report)


@pytest.mark.parametrize(
    ("texts", "stage", "signatures", "are_alike"),
    [
        ([f"compile: error: illegal: {dump}" for dump in DUMPS], "compile", ["illegal", "illegal"], True),
        ([f"compile: error: illegal: {dump}" for dump in DUMPS], "compile", ["illegal", "illegal: foo"], False),
        ([CRASHED.format("fold", dump) for dump in DUMPS], "crash", ["SIGABRT", "SIGABRT"], True),
        ([CRASHED.format(place, "x") for place in ("fold", "lower")], "crash", ["SIGABRT", "SIGABRT"], False),
        ([f"compile: timed out; {dump}" for dump in DUMPS], "timeout", ["", ""], False),
        ([f"run: illegal: {dump}" for dump in DUMPS], "run", ["illegal", "illegal"], True),
    ],
    ids=["one signature", "two signatures", "crash in one place", "crash in two", "no signature", "a run"],
)
def test_failures_are_alike_by_their_signature(
    texts: list[str], stage: str, signatures: list[str], *, are_alike: bool
) -> None:
    first, second = (
        key(text, name, stage=stage, signature=signature)
        for text, name, signature in zip(texts, ("conv", "gemm"), signatures, strict=True)
    )
    assert (first == second) is are_alike


@pytest.mark.parametrize(
    ("first", "second", "are_alike"),
    [
        ("0  libIREECompiler.so 0x00007f3ee315a0ab", "0  libIREECompiler.so 0x00007ff9fb15a0ab", True),
        ("FAIL f: 1 of 1 differs (1 check, 0.001 s)", "FAIL f: 1 of 1 differs (1 check, 0.012 s)", True),
        ("found 0x10", "found 0x20", False),
        ("actual 1.5, expected 2.5", "actual 1.25, expected 2.5", False),
    ],
)
def test_where_values_differ_the_text_counts_but_for_addresses_and_durations(
    first: str, second: str, *, are_alike: bool
) -> None:
    keys = [key(text, name, stage="compare", signature="values differ") for text, name in ((first, "a"), (second, "b"))]
    assert (keys[0] == keys[1]) is are_alike


def test_errors_of_collection_are_alike_but_for_the_file_which_a_session_lacks() -> None:
    def error(path: str, text: str) -> object:
        return _key(pytest.CollectReport(path, "failed", text_repr(text, path), []))

    assert error("a/suite.toml", "a/suite.toml: no name") == error("b/suite.toml", "b/suite.toml: no name")
    assert error("", "no name") != error("", "no module")
