"""The ladder file: read, written, merged, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from retarget.model import Rung
from retarget.support import DiagnosticsError
from retarget_bringup.ladder.files import Line, ladder_text, parse_ladder, read_ladder, read_settings, write_ladder

FILE = Path("bringup/x.ladder")
A, B = "a/suite.toml::a::m_c_r", "b/suite.toml::b::m_c_r"
TEXT = f"""\
# retarget ladder 1: x
{A} matches 0123456789ab
{B} loads 0123456789ab
# end
"""

_TARGETS = st.text("ab:/[é -", min_size=1, max_size=4).filter(lambda text: text.strip() == text)
_RUNGS = st.dictionaries(_TARGETS, st.sampled_from(list(Rung)), max_size=8)


def line(target: str, rung: Rung, digest: str = "0123456789ab") -> Line:
    return Line(target=target, rung=rung, digest=digest)


def without_numbers(text: str) -> list[tuple[str, Rung, str]]:
    return [(one.target, one.rung, one.digest) for one in parse_ladder(FILE, text).lines]


@given(_RUNGS)
def test_what_is_written_is_read(rungs: dict[str, Rung]) -> None:
    text = ladder_text("x", [line(target, rung) for target, rung in rungs.items()])
    assert without_numbers(text) == [(target, rung, "0123456789ab") for target, rung in sorted(rungs.items())]


@given(_TARGETS, st.sampled_from(Rung), st.text("ab: 0", min_size=1, max_size=30).map(str.strip).filter(bool))
def test_a_lowered_line_keeps_its_rung_before_and_the_reason(target: str, before: Rung, reason: str) -> None:
    for why in (reason, f"as {B} none 0123456789ab", f"none 0123456789ab lowered from loads: {reason}"):
        one = replace(line(target, Rung.NONE), lowered_from=before, reason=why)
        (read,) = parse_ladder(FILE, ladder_text("x", [one])).lines
        assert replace(read, number=0) == one


@given(_TARGETS, st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3), st.booleans())
def test_cases_of_any_name_are_read_as_they_are_written(target: str, cases: list[str], is_lowered: bool) -> None:
    one = replace(line(target, Rung.COMPLETES), failing=tuple(cases))
    one = replace(one, lowered_from=Rung.MATCHES, reason="fails a,b") if is_lowered else one
    (read,) = parse_ladder(FILE, ladder_text("x", [one])).lines
    assert replace(read, number=0) == one


def test_of_two_lines_of_a_target_the_higher_counts_then_that_of_today() -> None:
    rows = [f"{A} completes 0123456789ab", f"{A} stable {'f' * 12}", f"{A} stable {'e' * 12}"]
    ladder = parse_ladder(FILE, "\n".join(["# retarget ladder 1: x", *rows, "# end", ""]))
    assert ladder.line_of({A: "0123456789ab"})[A].rung is Rung.STABLE
    assert ladder.line_of({A: "e" * 12})[A].digest == "e" * 12


@pytest.mark.parametrize("other", [" fails a,b", ""])
@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_lines_on_one_rung_the_one_with_the_fewest_known_failures_counts(other: str, is_first: bool) -> None:
    rows = [f"{A} completes {'f' * 12} fails a", f"{A} completes {'e' * 12}{other}"]
    rows = rows if is_first else rows[::-1]
    ladder = parse_ladder(FILE, "\n".join(["# retarget ladder 1: x", *rows, "# end", ""]))
    assert ladder.line_of({A: "e" * 12})[A].failing == ("a",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace(": x", ": vulkan"),
         "bringup/x.ladder:1: found the ladder of 'vulkan', expected that of 'x'; a ladder is in bringup/NAME.ladder"),
        (TEXT.replace("ladder 1", "ladder 2"),
         "bringup/x.ladder:1: found a ladder of version 2, expected 1; read it with the retarget that wrote it"),
        ("", "bringup/x.ladder:1: found an empty file, expected the first line of a ladder, `# retarget ladder 1: x`"),
        (TEXT.replace("# retarget ladder 1: x\n", ""),
         f"bringup/x.ladder:1: found '{A} matches 0123456789ab', expected the first line of a ladder, "
         "`# retarget ladder 1: x`"),
        (TEXT.replace("loads", "laods"),
         "bringup/x.ladder:3: found the rung 'laods', expected one of none, found, opens, transfers, compiles, loads, "
         "dispatches, completes, matches, stable; did you mean 'loads'?"),
        (TEXT.replace("loads 0123456789ab", "loads"),
         f"bringup/x.ladder:3: found '{B} loads', expected TARGET RUNG DIGEST, the digest of 12 hex digits"),
        (TEXT.replace(B, f"<<<<<<< HEAD\n{B}"),
         "bringup/x.ladder:3: found '<<<<<<< HEAD', expected TARGET RUNG DIGEST, the digest of 12 hex digits; "
         "resolve the merge, or set `*.ladder merge=union` in .gitattributes"),
        (TEXT.replace(B, f"# mine\n{B}"),
         "bringup/x.ladder:3: found '# mine', expected no comment: --raise would not keep it"),
        (TEXT.removesuffix("# end\n"),
         "bringup/x.ladder:3: the file is cut here: expected its last line, `# end`; restore it with git"),
        (TEXT[:-25],
         "bringup/x.ladder:3: the file is cut here: expected its last line, `# end`; restore it with git"),
        (TEXT.removesuffix("\n"),
         "bringup/x.ladder:4: the file is cut here: expected its last line, `# end`; restore it with git"),
    ],
)  # fmt: skip
def test_what_is_no_ladder_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DiagnosticsError) as refused:
        parse_ladder(FILE, text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "text", [TEXT.replace(B, A), TEXT.replace(A, "z"), f"{TEXT}# end\n", TEXT.replace(B, f"# end\n{TEXT}{B}")]
)
def test_lines_as_a_merge_leaves_them_are_read(text: str) -> None:
    assert len(parse_ladder(FILE, text).lines) >= 2


def test_lines_end_as_windows_writes_them() -> None:
    assert without_numbers(TEXT.replace("\n", "\r\n")) == without_numbers(TEXT)


def test_a_file_is_written_only_where_that_changes_it(tmp_path: Path) -> None:
    file = tmp_path / "x.ladder"
    assert not read_ladder(file).lines
    assert write_ladder(file, [line(B, Rung.LOADS), line(A, Rung.MATCHES)])
    assert file.read_text() == TEXT
    assert not write_ladder(file, read_ladder(file).lines)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.ladder").write_bytes(b"\xff\xfe")
    with pytest.raises(Exception, match=r"x\.ladder: found bytes that are no UTF-8 text, expected a ladder$"):
        read_ladder(tmp_path / "x.ladder")


def test_of_many_errors_the_first_are_said() -> None:
    text = TEXT.replace("# end", "".join(f"what{at}\n" for at in range(100_000)) + "# end")
    with pytest.raises(DiagnosticsError) as error:
        parse_ladder(FILE, text)
    assert len(error.value.diagnostics) == 20
    assert "found 'what19', " in str(error.value).splitlines()[-1]
    assert str(error.value).endswith("the digest of 12 hex digits; 99980 more lines are wrong")


def test_a_line_that_commands_the_terminal_is_refused() -> None:
    with pytest.raises(DiagnosticsError, match=r"ladder:2: found 'a.x1b\[2J matches 0123456789ab', expected TARGET"):
        parse_ladder(FILE, "# retarget ladder 1: x\na\x1b[2J matches 0123456789ab\n# end\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = 1\nstabel = 3\n",
         "bringup/x.toml:1: select: found the integer 1, expected a string\n"
         "bringup/x.toml:2: stabel: found the unknown key 'stabel', expected one of paths, "
         "reference, select, stable; did you mean 'stable'?"),
        ('select = "a and"\npaths = ["../s", "t"]\n',
         "bringup/x.toml:1: select: 'a and': column 6: found the end of line, expected a word, 'not' or '('\n"
         "bringup/x.toml:2: paths[0]: found '../s', expected a path below .\n"
         "bringup/x.toml:2: paths[1]: found no file or folder 't' in ."),
        ('select = "vmvx"\n[[lowered]]\ntarget = "x"\n',
         "bringup/x.toml:2: lowered: found the unknown key 'lowered', expected one of paths, reference, "
         "select, stable"),
        ('select = "vmvx"\ndrivers = ["npu"]\n',
         "bringup/x.toml:2: drivers: found the unknown key 'drivers', expected one of paths, reference, "
         "select, stable; in its place `retarget bringup driver` checks them"),
        ("select =\n", "bringup/x.toml:1: found a TOML syntax error in column 9: invalid value"),
    ],
)  # fmt: skip
def test_errors_of_the_settings_have_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bringup").mkdir()
    (tmp_path / "bringup/x.toml").write_text(text)
    with pytest.raises(DiagnosticsError) as caught:
        read_settings(tmp_path / "bringup/x.toml")
    assert str(caught.value) == message
