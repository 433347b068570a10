"""Helpers for the text that tools print."""

from __future__ import annotations

from retarget.support.text import clip, cut_stacks, error_line, first_line, join_output, shown, strip_colour


def test_colour_and_links_are_stripped() -> None:
    assert strip_colour("\x1b[1;31merror:\x1b[0m a \x1b]8;;http://x\x1b\\b\x1b]8;;\x07 \x1b[Kc") == "error: a b c"
    assert strip_colour("plain [31m") == "plain [31m"


def test_what_a_terminal_is_shown_is_one_line_without_controls_and_of_bounded_length() -> None:
    assert shown("\x1b[31mred\x1b[0m\r\n\x07<b>") == "red???<b>"
    assert shown("x" * 1000, 10) == "x" * 10 + "…"


def test_the_first_line_that_says_anything() -> None:
    assert first_line("\n  \n\x1b[31m error: no\x1b[0m\nnote: yes") == "error: no"
    assert first_line(" \n", "nothing") == "nothing"


def test_the_last_line_that_speaks_of_an_error() -> None:
    assert error_line("Fatal error: a\n\x1b[31mLLVM ERROR: b\x1b[0m\n #0 stack\n") == "LLVM ERROR: b"
    assert error_line("note\n error: alone \n") == "error: alone"
    assert error_line("no errors\n") == ""


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


def test_a_stack_dump_keeps_its_innermost_frames_without_those_of_the_signal_handler() -> None:
    frames = [
        " #0 0x00007f699df5a0ab llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.cpp:0:0",
        " #1 0x00007f699df571fe llvm::sys::RunSignalHandlers() Signals.cpp:0:0",
        " #2 0x00007f699df5ac10 SignalHandler(int, siginfo_t*, void*) Signals.cpp:0:0",
        " #3 0x00007f69a805a050 (/lib/x86_64-linux-gnu/libc.so.6+0x3c050)",
        *(f"{f'#{at}':>3} 0x00007f69a1bff0b0 name{at} {'x' * 200 if at == 5 else ''}" for at in range(4, 40)),
    ]
    cut = cut_stacks("Stack dump:\n" + "\n".join(frames) + "\nafter\n").splitlines()
    assert cut[0] == "Stack dump:"
    assert [line.split()[0] for line in cut[1:9]] == [f"#{at}" for at in range(4, 12)]
    assert (len(cut[2]), cut[2][-3:]) == (162, "x …")
    assert cut[9:] == ["    … 32 more stack frames cut", "after"]
    named = cut_stacks("\n".join(frames[:3] + frames[4:])).splitlines()  # where the kernel's own frame is left out
    assert [line.split()[0] for line in named[:8]] == [f"#{at}" for at in range(4, 12)]


def test_frames_of_a_library_with_and_without_names_are_one_stack() -> None:
    frames = [f"{at:<2} libIREECompiler.so      0x00007f63981{at:05x}" for at in range(20)]
    frames[12] += " ireeCompilerInvocationPipeline + 3672"
    assert cut_stacks("\n".join(frames)).splitlines() == [*frames[:8], "    … 12 more stack frames cut"]


def test_a_short_stack_and_other_text_are_left_alone() -> None:
    text = "#1 of 3\n0. Program arguments: x\n" + "".join(f" #{at} 0x00007f69a805a050 f\n" for at in range(9)) + "end"
    assert cut_stacks(text) == text
    assert cut_stacks("") == ""
