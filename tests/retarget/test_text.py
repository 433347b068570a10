"""Helpers for the text that tools print."""

from __future__ import annotations

from retarget.text import clip, first_line, join_output, strip_colour


def test_colour_and_links_are_stripped() -> None:
    assert strip_colour("\x1b[1;31merror:\x1b[0m a \x1b]8;;http://x\x1b\\b\x1b]8;;\x07 \x1b[Kc") == "error: a b c"
    assert strip_colour("plain [31m") == "plain [31m"


def test_the_first_line_that_says_anything() -> None:
    assert first_line("\n  \n\x1b[31m error: no\x1b[0m\nnote: yes") == "error: no"
    assert first_line(" \n", "nothing") == "nothing"


def test_joined_output_says_nothing_twice() -> None:
    assert join_output("error: a\n", "printed\n") == "error: a\nprinted\n"
    assert join_output("error: a\n", "") == "error: a\n"
    assert join_output("", "printed\n") == "printed\n"
    assert join_output("x error: a y", "error: a\n") == "x error: a y"
    assert join_output("error: a\n", "before\nerror: a\nafter\n") == "before\nerror: a\nafter\n"


def test_clipping_leaves_out_the_middle() -> None:
    assert clip(b"abc", 3) == "abc"
    assert clip(b"abcdefgh", 4) == "ab\n[… 4 bytes left out …]\ngh"
    assert clip("é".encode()[:1], 10) == "�"
