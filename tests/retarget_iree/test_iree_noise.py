"""Cleaning of diagnostics and status messages."""

from __future__ import annotations

import pytest
from retarget_iree.noise import clean_diagnostics, clean_status, first_error, is_verdict

LECTURE = """a.mlir:1:57: warning: while creating CPU target:\x20
Defaulting to targeting a generic CPU for the target architecture will result in poor performance.

This can be done in two ways:
    cpu="name"
        List of accepted x86 CPUs: nocona, core2

func.func @f() { %0 = arith.addf %a, %a }
                      ^
a.mlir:1:1: note: called from
func.func @f()
^
"""


def test_the_advice_on_choosing_a_cpu_is_cut_to_its_first_two_lines() -> None:
    assert clean_diagnostics(LECTURE).splitlines() == [
        "a.mlir:1:57: warning: while creating CPU target: ",
        "Defaulting to targeting a generic CPU for the target architecture will result in poor performance.",
        "func.func @f() { %0 = arith.addf %a, %a }",
        "                      ^",
        "a.mlir:1:1: note: called from",
        "func.func @f()",
        "^",
    ]


def test_a_dumped_operation_is_cut_and_the_cut_is_counted() -> None:
    dump = "\n".join(f"  %{index} = op" for index in range(1000))
    text = f"a.mlir:1:1: error: bad\na.mlir:1:1: note: see current operation: \n{dump}\na.mlir:2:1: error: worse\n"
    lines = clean_diagnostics(text).splitlines()
    assert len(lines) == 15
    assert lines[12] == "  %10 = op"
    assert lines[13] == "    … 989 more lines of the operation cut"
    assert lines[14] == "a.mlir:2:1: error: worse"


@pytest.mark.parametrize(("more", "kept"), [(0, 1), (11, 12), (12, 13), (13, 12)])
def test_a_short_dump_is_kept_whole(more: int, kept: int) -> None:
    lines = [
        'a.mlir:1:1: note: see current operation: "op"() : () -> ()',
        *(f"  %{index} = op" for index in range(more)),
    ]
    for end in ("Please report issues to x", "b.mlir:1:1: error: e", "LLVM ERROR: e", "#0 0x000055 f(int) (/a.so+0x1)"):
        cut = [f"    … {1 + more - kept} more lines of the operation cut"] * (more >= kept)
        assert clean_diagnostics("\n".join([*lines, end])).splitlines() == [*lines[:kept], *cut, end]


def test_advice_without_a_caret_ends_at_the_next_diagnostic_and_right_behind_it_keeps_the_caret() -> None:
    head = ["a.mlir:1:57: warning: while creating CPU target: ", "Defaulting"]
    for advice, kept in (
        (["more", "b.mlir:1:1: error: e"], ["b.mlir:1:1: error: e"]),
        (["  ^", "b"], ["  ^", "b"]),
        (["more", "source", "  ^"], ["source", "  ^"]),
        (["more"], []),
    ):
        assert clean_diagnostics("\n".join([*head, *advice])).splitlines() == [*head, *kept]


def test_long_lines_are_cut_and_repeats_are_counted() -> None:
    lines = clean_diagnostics("x" * 1000 + "\nsame\nsame\nsame\nother").splitlines()
    assert lines[0] == "x" * 400 + " … 600 more characters cut"
    assert lines[1:] == ["same", "    … the line above 2 more times", "other"]
    assert clean_diagnostics("x" * 400) == "x" * 400
    assert clean_diagnostics("\x1b[1m" + "x" * 401) == "\x1b[1m" + "x" * 396 + "\x1b[0m … 1 more characters cut"
    assert clean_diagnostics("a\na\n\n\nb") == "a\n    … the line above 1 more time\n\n\nb"
    assert first_error("error: " + "x" * 394) == "error: " + "x" * 393 + " … 1 more characters cut"
    assert first_error("a:1: error: " + "x" * 389) == "a:1: error: " + "x" * 388 + " … 1 more characters cut"


def test_colour_is_kept_and_does_not_hide_what_a_line_is() -> None:
    text = "\x1b[1ma.mlir:1:23: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1mcustom op 'arith.foo' is unknown\n\x1b[0m"
    assert clean_diagnostics(text) == text.rstrip("\n")
    assert first_error(text) == "a.mlir:1:23: error: custom op 'arith.foo' is unknown"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "iree-compile: error: no file",
        "LLVM ERROR: 64-bit code requested",
        "<unknown>:0: error: no place",
        'loc("a.mlir":3:4): error: e',
    ],
)
def test_a_line_that_is_an_error_is_the_first_error(text: str) -> None:
    assert first_error(text) == text


def test_warnings_are_no_errors_and_of_several_errors_the_first_counts() -> None:
    assert first_error("warning: w") == ""
    assert first_error("a.mlir:1:2: warning: w\n") == ""
    text = "a.mlir:1:2: warning: w\na.mlir:3:4: error: e\nb.mlir:1:1: error: f"
    assert first_error(text) == "a.mlir:3:4: error: e"


@pytest.mark.parametrize(
    ("message", "cleaned"),
    [
        (
            "Error invoking function: <vm>:0: FAILED_PRECONDITION; deep message; \n[ 0] bytecode module@1:233 -",
            "FAILED_PRECONDITION; deep message",
        ),
        (
            "Error invoking function: c/runtime/src/iree/modules/hal/utils/buffer_diagnostics.c:191: INVALID_ARGUMENT; "
            "input1 mismatch; while calling import; \n[ 1] bytecode module@2:204 at a.mlir:3:4",
            "INVALID_ARGUMENT; input1 mismatch; while calling import\n[ 1] bytecode module@2:204 at a.mlir:3:4",
        ),
        ("Error creating device: runtime/src/iree/hal/x.c:1: NOT_FOUND; no path", "NOT_FOUND; no path"),
        ("plain words: of something else", "plain words: of something else"),
    ],
)
def test_status_messages_lose_source_paths_and_placeless_frames(message: str, cleaned: str) -> None:
    assert clean_status(message) == cleaned


VERDICTS = [
    "m.mlir:1:1: error: failed to legalize operation 'foo.bar'",
    "error: the linker script is odd",
    "Linking failed; escaped command line returned exit code 256:\nm.mlir:1:1: error: failed to link executable",
    "m.mlir:1:1: error: failed to legalize operation 'arith.truncf'\n"
    "m.mlir:1:1: error: failed to run translation of source executable to target executable for backend #hal…",
    "m.mlir:1:1: error: failed to run configuration of source executable to target executable for backend",
    "m.mlir:2:12: error: failed to run translation of source executable to target executable",
    "m.mlir:2:12: error: failed to run canonicalizations (proxy for DCE)",
]
TROUBLE = [
    "m.mlir:1:1: error: could not open file x.so: No such file or directory",
    "\x1b[31merror\x1b[0m: Failed to run system command 'ld' with error code: 127",
    "error: No Unix linker tool found in environment.",
    "sh: 1: /a/b: not found\nLinking failed; escaped command line returned exit code 32512:\nm.mlir:1:1: error: no",
    "Linking failed; escaped command line returned exit code 9:\nm.mlir:1:1: error: failed to link executable",
    "LLVM ERROR: IO failure on output stream: No space left on device",
]


@pytest.mark.parametrize("diagnostics", VERDICTS)
def test_what_the_compiler_says_of_the_module_is_a_verdict(diagnostics: str) -> None:
    assert is_verdict(diagnostics)


@pytest.mark.parametrize("diagnostics", TROUBLE)
def test_trouble_with_files_and_tools_is_no_verdict_on_the_module(diagnostics: str) -> None:
    assert not is_verdict(diagnostics)
