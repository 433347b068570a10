"""Which failures are alike; what of their texts is not compared: names with positions, addresses, durations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pytest_retarget.items.targets import text_repr
from pytest_retarget.record import RECORD
from pytest_retarget.report.equal_failures import _key, without_chance, without_names
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
        ([f"run: illegal: {dump}" for dump in DUMPS], "run", ["illegal", "illegal"], False),
    ],
    ids=["one signature", "two signatures", "crash in one place", "crash in two", "no signature", "a run"],
)
def test_failures_of_a_compiler_are_alike_by_their_signature(
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
        ("conv/a1.mlir:3:8: error: no such op", "conv/b2.mlir:12:1: error: no such op", True),
        ("a1_vmvx is not here", "b2_vmvx is not here", True),
        ("found 'a1'", "found 'b2'", True),
        ("in function 'a1': 3 of 4 differ", "in function 'b2': 3 of 4 differ", True),
        ("3 of 4 differ", "2 of 4 differ", False),
        ("other.mlir:3:8: error", "other.mlir:3:9: error", False),
        ("not-a1 is there", "not-b2 is there", False),
    ],
)
def test_texts_are_alike_but_for_the_names_of_their_targets(first: str, second: str, *, are_alike: bool) -> None:
    texts = without_names(first, ["a1", "a1_vmvx", ""]), without_names(second, ["b2", "b2_vmvx", ""])
    assert (texts[0] == texts[1]) is are_alike


def test_a_name_of_one_letter_is_one_where_it_is_quoted_or_a_files() -> None:
    assert without_names("a call of 'a' in a.mlir:1:2", ["a"]) == "a call of '…' in …"


def test_without_names_a_text_is_as_it_was() -> None:
    assert without_names("x.mlir:1:2: error", ["", ""]) == "x.mlir:1:2: error"


@pytest.mark.parametrize(
    ("first", "second", "are_alike"),
    [
        ("0  libIREECompiler.so 0x00007f3ee315a0ab", "0  libIREECompiler.so 0x00007ff9fb15a0ab", True),
        ("FAIL f: 1 of 1 differs (1 check, 0.001 s)", "FAIL f: 1 of 1 differs (1 check, 0.012 s)", True),
        ("found 0x10", "found 0x20", False),
        ("actual 1.5, expected 2.5", "actual 1.25, expected 2.5", False),
    ],
)
def test_addresses_and_durations_make_no_difference(first: str, second: str, *, are_alike: bool) -> None:
    assert (without_chance(first) == without_chance(second)) is are_alike
