"""Flagfiles: what is read from each form, and every error with its line and column."""

# One row a line reads better in a table of messages.

# ruff: noqa: E501

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from retarget.support import DiagnosticsError
from retarget_iree.flagfile.parse import FlagFile, parse_flagfile, read_text
from retarget_iree.flagfile.values import packed_text

FILE = Path("flags.txt")


def parse(*lines: str) -> FlagFile:
    return parse_flagfile(FILE, "\n".join(lines), FILE.parent)


def diagnostics(*lines: str) -> list[tuple[int, int, str]]:
    with pytest.raises(DiagnosticsError) as caught:
        parse(*lines)
    return [(diagnostic.line, diagnostic.column, diagnostic.message) for diagnostic in caught.value.diagnostics]


# ---------------------------------------------------------------- what is read


def test_comments_blanks_and_carriage_returns_do_not_count() -> None:
    file = parse("# one", "// two", "", "  --function = main \r", "\t--expected_f32_threshold= 0.5")
    assert file.function is not None
    assert file.function.text == "main"
    assert (file.function.location.line, file.function.location.column) == (4, 16)
    assert file.thresholds["float32"] == 0.5
    assert file.expected is None


def test_later_flags_override_earlier_ones_and_values_add_up() -> None:
    file = parse("--function=f", "--function=g", "--expected_rtol=1", "--expected_rtol=0", "--equality_mode=exact")
    assert file.function is not None
    assert (file.function.text, file.rtol, file.exact) == ("g", 0.0, True)


@pytest.mark.parametrize(
    ("value", "packed"),
    [
        ("4xi4=1 -2 0x3 15", "4xi4=e1 f3"),
        ("3x1xui4=1 2 3", "3x1xui4=21 03"),
        ("4xi4=-1", "4xi4=ff"),
        ("4xi4=21", "4xi4=21"),
        ("5xi2=1 0 1 -1 1", "5xi2=d1 01"),
        ("&2xi4=1 2", "&2xi4=21"),
        ("4xi4", "4xi4"),
        ("4xi4=@a.bin", "4xi4=@a.bin"),
        ("4xi8=1 2 3 4", "4xi8=1 2 3 4"),
        ("@a.npy", "@a.npy"),
        ("5", "5"),
    ],
)
def test_the_tool_gets_small_integers_as_packed_bytes(value: str, packed: str) -> None:
    assert packed_text(parse(f"--input={value}").inputs[0]) == packed


def test_parameters_have_a_scope_or_none() -> None:
    first, second = parse("--parameters=model=w.irpa", "--parameters=b.irpa").parameters
    assert (first[0], first[1].text, first[1].location.column) == ("model", "w.irpa", 20)
    assert (second[0], second[1].text) == ("", "b.irpa")


# ---------------------------------------------------------------- errors

ELEMENTS = (
    "i1, i2, i4, i8, i16, i32, i64, si2, si4, si8, si16, si32, si64, ui2, ui4, ui8, ui16, ui32, ui64, "
    "f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, f16, bf16, f32, f64, cf64, cf128"
)
FLAGS = (
    "equality_mode, expected_bf16_threshold, expected_f16_threshold, expected_f32_threshold, expected_f64_threshold, "
    "expected_output, expected_rtol, function, input, module, parameters"
)
RUNTIME = (
    "expected no flag of the runtime: where a case runs is set by the runtime config (driver, devices, flags) in "
    "matrix.toml"
)
FORMS = "2x3xf32=1 2 3 4 5 6, 4xf32=0, 2x3xf32=@file.bin, @file.npy or a number"


LIKELY = st.builds(
    "--{}={}{}={}".format,
    st.sampled_from(["input", "expected_output", "parameters", "expected_rtol"]),
    st.sampled_from(["", "4x", "0x", "2x3x", "&", "x", "xx"]),
    st.sampled_from(["f32", "i8", "i1", "cf64", "f8E5M2", "index", "@a.npy", "(ignored)"]),
    st.text("0123456789.-+ex@*[], nafip\u0663", max_size=12),
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("^foo", "found 'foo', expected a flag ('--name=value'), a comment ('#' or '//') or an empty line"),
        ("  ^-input=1", "found '-input=1', expected a flag ('--name=value'), a comment ('#' or '//') or an empty line"),
        ("^\ufeff--function=f", "found a byte order mark, expected '--name=value'; save the file as UTF-8 without one"),
        ("^--inptu=1", "found --inptu, expected a flag of iree-run-module that bears on a case; did you mean 'input'?"),
        ("^--expected-output=1", "found --expected-output, expected a flag of iree-run-module that bears on a case; did you mean 'expected_output'?"),
        ("^--batch=1", f"found --batch, expected a flag of iree-run-module that bears on a case: {FLAGS}"),
        ("^--device=local-task", f"found --device, {RUNTIME}"),
        ("^--task_topology_group_count=2", f"found --task_topology_group_count, {RUNTIME}"),
        ("^--input", "found --input without a value, expected --input=2x3xf32=@input_0.bin"),
        ("^--function=", "found --function without a value, expected --function=main"),
        ("--expected_f32_threshold=^abc", "found 'abc', expected a number of 0 or more, such as 0.001"),
        ("--expected_rtol=^-1", "found '-1', expected a number of 0 or more, such as 0.001"),
        ("--expected_f64_threshold=^nan", "found 'nan', expected a number of 0 or more, such as 0.001"),
        ("--equality_mode=^exat", "found 'exat', expected approximate or exact; did you mean 'exact'?"),
        ("--parameters=scope=^", "found no file, expected scope=file.irpa"),
        ("--input=@^x.bin", "found 'x.bin', expected a .npy file; raw bytes need their type before them: 2x3xf32=@file.bin"),
        ("--input=@^x.npz", "found 'x.npz', expected a .npy file; raw bytes need their type before them: 2x3xf32=@file.bin"),
        ("--input=4xf32=^@", "found no file after '@', expected 4xf32=@file.bin"),
        ("--input=4xf32=^*a.bin", "found '*', expected '@' or '+': a.bin holds one tensor of this type"),
        ("--input=^f32", f"found 'f32', expected a value with its type: {FORMS}"),
        ("--expected_output=^(ignore)", f"found '(ignore)', expected a value with its type: {FORMS}; did you mean '(ignored)'?"),
        ("--input=4x^f33=1", f"found element type 'f33', which no NumPy type holds; expected one of: {ELEMENTS}"),
        ("--input=4x^i3=1", f"found element type 'i3', which no NumPy type holds; expected one of: {ELEMENTS}"),
        ("--input=4x^f4E2M1FN=1", f"found element type 'f4E2M1FN', which the runtime of IREE does not pass; expected one of: {ELEMENTS}"),
        ("--input=4xi4=1 ^16 2 3", "found '16', expected an integer from -8 to 15, for i4 (0x10 is hexadecimal, 010 octal)"),
        ("--input=4xi4=^1 2 3", "found 3 numbers, expected 4 for 4xi4 (or 1 for all)"),
        ("--input=0xi4=^21", "found 1 number, expected 0 for 0xi4"),
        ("--input=2xui2=0 ^4", "found '4', expected an integer from 0 to 3, for ui2 (0x10 is hexadecimal, 010 octal)"),
        ("--input=2xf8E8M0FNU=1 ^0", "found '0', expected a number above 0, for f8E8M0FNU"),
        ("--input=4x^float32=1", f"found element type 'float32', expected one of: {ELEMENTS}; did you mean 'f32'?"),
        ("--input=4x^F32=1", f"found element type 'F32', expected one of: {ELEMENTS}; did you mean 'f32'?"),
        ("--input=4x^complex<f32>=1", "found element type 'complex<f32>', expected cf64, which is how iree-run-module names it"),
        ("--input=^index=1", "found element type 'index', expected i64, as which it is passed"),
        ("--input=2x^?xf32=1", "found '?', expected a size of 0 or more: data has a shape without unknown sizes"),
        ("--input=2x^-1xf32=1", "found '-1', expected a size of 0 or more: data has a shape without unknown sizes"),
        ("--input=^2xxf32=1", "found '2xx', expected sizes with an x after each: 2x3xf32"),
        ("--input=4xf32=^1 2", "found 2 numbers, expected 4 for 4xf32 (or 1 for all)"),
        ("--input=4xf32=^1 2 3 4 5", "found 5 numbers, expected 4 for 4xf32 (or 1 for all)"),
        ("--input=4xf32=^[]", "found 0 numbers, expected 4 for 4xf32 (or 1 for all)"),
        ("--input=0x4xf32=^1", "found 1 number, expected 0 for 0x4xf32"),
        ("--input=f32=^1 2", "found 2 numbers, expected 1 for f32"),
        ("--input=4xf32=^1 2 3 4# four", "found 5 numbers, expected 4 for 4xf32 (or 1 for all)"),
        ("--input=3xf32=1, 2, ^3;", "found '3;', expected a number, for f32"),
        ("--input=1xf32=^1_000", "found '1_000', expected a number, for f32"),
        ("--input=2xi32=1 ^2.5", "found '2.5', expected an integer from -2147483648 to 4294967295, for i32 (0x10 is hexadecimal, 010 octal)"),
        ("--input=2xsi8=1 ^128", "found '128', expected an integer from -128 to 127, for si8 (0x10 is hexadecimal, 010 octal)"),
        ("--input=2xui8=^-1 1", "found '-1', expected an integer from 0 to 255, for ui8 (0x10 is hexadecimal, 010 octal)"),
        ("--input=1xi8=^08", "found '08', expected an integer from -128 to 255, for i8 (0x10 is hexadecimal, 010 octal)"),
        ("--input=2xi1=1 ^2", "found '2', expected 00, 01, 0, 1, false or true, for i1"),
        ("--input=1xcf64=^1", "found '1', expected 16 hexadecimal digits, the bytes of a number of cf64"),
        ("--input=1xcf128=^zz", "found 'zz', expected 32 hexadecimal digits, the bytes of a number of cf128"),
        (f"--input=^{'1x' * 65}f32=1", f"found '{'1x' * 30}…', expected at most 64 sizes of at most 18 digits"),
        (f"--input=^{'9' * 5000}xf32=1", f"found '{'9' * 60}…', expected at most 64 sizes of at most 18 digits"),
    ],
)  # fmt: skip
def test_each_error_has_its_column(line: str, message: str) -> None:
    before, _, after = line.partition("^")
    assert diagnostics(before + after) == [(1, len(before) + 1, message)]


def test_all_errors_of_a_file_are_reported_at_once_with_file_line_and_column() -> None:
    with pytest.raises(DiagnosticsError) as caught:
        parse("--function=f", "--inptu=1", "# fine", "  --input=2xi32=1 x", "bar", "--module=a.mlir", "--module=b.mlir")
    assert str(caught.value).splitlines() == [
        "flags.txt:2:1: found --inptu, expected a flag of iree-run-module that bears on a case; did you mean 'input'?",
        "flags.txt:4:19: found 'x', expected an integer from -2147483648 to 4294967295, for i32 "
        "(0x10 is hexadecimal, 010 octal)",
        "flags.txt:5:1: found 'bar', expected a flag ('--name=value'), a comment ('#' or '//') or an empty line",
        "flags.txt:7:1: found --module a second time, expected one: the first is a.mlir",
    ]


def test_a_file_that_is_no_text_or_too_long_is_reported(cwd: Path) -> None:
    for content, message in (
        (
            b"# \xc3\xa9\n--input=\xff",
            "flags.txt:2:9: found the byte 0xff, which is no UTF-8 text here; expected a flagfile of iree-run-module",
        ),
        (None, "none.txt: cannot be read: No such file or directory; expected a flagfile of iree-run-module"),
    ):
        path = cwd / ("flags.txt" if content else "none.txt")
        if content:
            path.write_bytes(content)
        with pytest.raises(DiagnosticsError) as caught:
            read_text(path)
        assert str(caught.value) == message
    os.mkfifo(cwd / "pipe.txt")
    with pytest.raises(DiagnosticsError) as caught:
        read_text(cwd / "pipe.txt")
    assert str(caught.value) == "pipe.txt: found no regular file, expected a flagfile of iree-run-module"
    with (cwd / "long.txt").open("wb") as stream:
        stream.truncate(1 << 32)
    with pytest.raises(DiagnosticsError) as caught:
        read_text(cwd / "long.txt")
    assert str(caught.value) == (
        "long.txt: found a flagfile of 4294967296 bytes, expected at most 67108864; keep values in .npy or .bin files"
    )


@given(st.lists(st.one_of(st.text(max_size=30), LIKELY), max_size=6).map("\n".join))
@pytest.mark.slow
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        parse_flagfile(FILE, text, FILE.parent)
    except DiagnosticsError as error:
        lines = text.split("\n")
        for diagnostic in error.diagnostics:
            assert 1 <= diagnostic.column <= len(lines[diagnostic.line - 1]) + 1
            assert diagnostic.message.startswith("found ")
