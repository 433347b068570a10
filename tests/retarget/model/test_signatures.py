"""What distinguishes failures, on diagnostics as IREE 3.13.0 and the core print them."""

from __future__ import annotations

import pytest
from retarget.model.outcomes import Failure, Observation, Stage
from retarget.model.signatures import MAX_SIGNATURE, contains_signature, normalise

LEGALIZE = "failed to legalize operation"
ILLEGAL = "that was explicitly marked illegal"

DIAGNOSTICS = [
    (
        f"test_nllloss_NC.mlir:4:10: error: {LEGALIZE} 'torch.aten.nll_loss_forward' {ILLEGAL}: "
        '%6:2 = "torch.aten.nll_loss_forward"(%arg0, %5, %0) : (!torch.vtensor<[3,5],f32>) -> !torch.int',
        f"{LEGALIZE} 'torch.aten.nll_loss_forward' {ILLEGAL}",
    ),
    (
        f"test_adam.mlir:4:12: error: {LEGALIZE} 'torch.operator' {ILLEGAL}: "
        '%0:3 = "torch.operator"(%arg0, %arg1) <{name = "onnx.Adam"}> ({ … 812 more characters cut',
        f"{LEGALIZE} 'torch.operator' {ILLEGAL}: onnx.Adam",
    ),
    (
        f"a/b.mlir:7:3: error: {LEGALIZE} 'torch.operator' {ILLEGAL}: %0 = torch.operator \"onnx.DFT\"(%arg0)",
        f"{LEGALIZE} 'torch.operator' {ILLEGAL}: onnx.DFT",
    ),
    (
        f"<unknown>:0: error: {LEGALIZE} 'torch.constant.int': %3 = \"torch.constant.int\"() <{{value = 0 : i64}}>",
        f"{LEGALIZE} 'torch.constant.int'",
    ),
    (
        "x.mlir:4:10: error: 'tensor.cast' op operand type 'tensor<?x1xi1>' and result type 'tensor<2xi1>' are cast"
        " incompatible",
        "'tensor.cast' op operand type 'tensor<…xi1>' and result type 'tensor<…xi1>' are cast incompatible",
    ),
    (
        "x.mlir:2:3: error: unhandled torch type: '!torch.optional<vtensor<[4,5],f32>>'",
        "unhandled torch type: '!torch.optional<vtensor<[N],f32>>'",
    ),
    (
        "\x1b[1mx.mlir:2:3: \x1b[31merror: \x1b[0m'arith.addi' op operand #0 must be signless-integer-like",
        "'arith.addi' op operand #0 must be signless-integer-like",
    ),
    (
        'loc(fused<"x">["a.mlir":2:3]): error: use of value %12 at 0x7f12ab00 in /tmp/tmpa1/x.mlir:4:5',
        "use of value %… at 0x… in …",
    ),
    ("LLVM ERROR: out of memory", "LLVM ERROR: out of memory"),
    ("FAILED_PRECONDITION; s must be zero", "FAILED_PRECONDITION; s must be zero"),
    (
        "RESOURCE_EXHAUSTED; allocation of 1073741824 bytes at /usr/lib/libvulkan.so.1 failed",
        "RESOURCE_EXHAUSTED; allocation of N bytes at … failed",
    ),
    (
        "'func.func' op exceeded stack allocation limit of 32768 bytes for function @test_foo_dispatch_0$async",
        "'func.func' op exceeded stack allocation limit of N bytes for function @…",
    ),
    ("device vulkan://GPU-1234 has no spirv1.3 and f64", "device … has no spirv1.3 and f64"),
    ("either/or", "either/or"),
    ("s/n/io flags.txt:2:9: data file s/n/a b.npy does not exist", "data file … does not exist"),
    (
        "data file ../x.npy leads to /a/b/x.npy, outside the suite's folder /a/s",
        "data file … leads to …, outside the suite's folder …",
    ),
    (
        "data file m/x.bin is short: expected 16 bytes for 4xf32, found 12",
        "data file … is short: expected N bytes for 4xf32, found N",
    ),
    ("s/n/flags.txt: found no --function, expected one", "found no --function, expected one"),
    ("", ""),
]


@pytest.mark.parametrize(("diagnostic", "signature"), DIAGNOSTICS)
def test_a_diagnostic_becomes_a_signature_and_a_signature_stays_itself(diagnostic: str, signature: str) -> None:
    assert normalise(diagnostic) == signature
    assert normalise(signature) == signature


def test_a_long_signature_is_cut_at_the_end_of_a_word_and_stays_itself() -> None:
    long = normalise("word " * 80)
    assert len(long) <= MAX_SIGNATURE
    assert long.endswith("word")
    assert normalise(long) == long
    assert normalise(f"it raised ValueError: {'x' * 400}") == "it raised ValueError"


COMPARISONS = [
    ("3 of 4 elements differ, first at [0]: actual 1.0, expected 2.0", "values differ"),
    ("1 of 1 element differs, actual 1.0, expected 2.0", "values differ"),
    ("check 2 of 3: 3 of 4 elements differ, first at [0]: actual 1.0, expected 2.0", "values differ"),
    ("all_true: 2 of 4 elements are not nonzero, first at [1] is 0", "values differ"),
    ("false: not zero: 1", "values differ"),
    ("result[0]: element at index 0 (4) does not match the expected (5); expected that …", "values differ"),
    ("result 0: shape differs: actual 2xfloat32, expected 3xfloat32", "shape differs"),
    ("element type differs: actual 2xfloat32, expected 2xfloat64", "element type differs"),
    ("shape and element type differs: actual 2xfloat32, expected 3xint8", "shape and element type differ"),
    ("2 results, expected 1", "number of results differs"),
    ("function 'add': 0 results to compare, expected 1 or more", "number of results differs"),
    ("function 'add' made no check", "the function made no check"),
    ("CHECK: expected string not found in input", "CHECK: expected string not found in input"),
]


@pytest.mark.parametrize(("summary", "word"), COMPARISONS)
def test_a_comparison_is_reported_by_a_word_without_numbers(summary: str, word: str) -> None:
    failure = Failure(stage=Stage.COMPARE, summary=summary)
    assert failure.observation == Observation(stage="compare", signature=word)
    assert normalise(word) == word


@pytest.mark.parametrize(
    ("failure", "observation"),
    [
        (Failure(stage=Stage.COMPILE, summary="x", signal="SIGFPE"), Observation(stage="crash", signature="SIGFPE")),
        (Failure(stage=Stage.RUN, summary="x", timed_out=True), Observation(stage="timeout", signature="")),
        (Failure(stage=Stage.LOAD, summary="a.mlir:1:2: error: no"), Observation(stage="load", signature="no")),
    ],
)
def test_a_crash_and_a_timeout_are_stages_of_their_own(failure: Failure, observation: Observation) -> None:
    assert failure.observation == observation


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ("", True),
        ("nll_loss_forward", True),
        (f"{LEGALIZE} 'torch.aten.nll_loss_forward'", True),
        (DIAGNOSTICS[0][0], True),
        ("nll_loss_backward", False),
        ("...", False),
    ],
)
def test_a_rule_may_shorten_a_signature_or_quote_the_diagnostic(wanted: str, holds: bool) -> None:
    assert contains_signature(DIAGNOSTICS[0][1], wanted) is holds
