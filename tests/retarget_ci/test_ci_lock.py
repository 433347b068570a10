"""`ci.lock`: written sorted, one line per cell; what it says otherwise than the declarations."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from retarget_ci import LOCK_FILE
from retarget_ci.lock import NONE, Cell, lock_problems, lock_text

WRITE = "`retarget ci emit` writes it"

Cells = dict[Cell, list[tuple[str, tuple[str, ...]]]]

RUNNERS = {"linux": ["ubuntu-24.04"], "gpu": ["self-hosted", "gpu-nvidia"]}


def cells(compiler: str = "llvm-cpu", modules: tuple[str, ...] = ("add", "dot"), tag: str = "cpu") -> Cells:
    found: Cells = {}
    for runner, runtime in (("linux", NONE), ("linux", "local-sync"), ("gpu", "cuda")):
        cell = Cell(event="pr", runner=runner, suite="linalg", compiler=compiler, runtime=runtime)
        found[cell] = [(f"suite.toml::linalg::{module}_{compiler}_{runtime}", (tag, "linalg")) for module in modules]
    return found


def problems(found: str | None, expected: str) -> list[str]:
    """What is said of a file of the text `found` in the current folder, where `expected` is meant."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        if found is not None:
            Path(LOCK_FILE).write_bytes(found.encode())
        return [str(one) for one in lock_problems(Path(), expected)]


def test_the_file_has_a_sorted_line_for_each_runner_and_cell() -> None:
    text = lock_text(RUNNERS, cells())
    assert text.splitlines() == [
        "# What each event runs where. `retarget ci emit` writes this file, `retarget ci verify` checks it.",
        'runner gpu ["self-hosted", "gpu-nvidia"]',
        'runner linux ["ubuntu-24.04"]',
        "pr gpu linalg llvm-cpu cuda 2 d1a173057641688c",
        "pr linux linalg llvm-cpu - 2 f0b100d2b024aae0",
        "pr linux linalg llvm-cpu local-sync 2 db840eaf895039da",
    ]
    assert text.endswith("\n")


def test_the_order_of_declarations_changes_nothing() -> None:
    shuffled = {cell: [(one, tags[::-1]) for one, tags in targets[::-1]] for cell, targets in reversed(cells().items())}
    assert lock_text(dict(reversed(RUNNERS.items())), shuffled) == lock_text(RUNNERS, cells())


def test_other_labels_and_a_conflict_of_a_merge_show_the_first_line_that_differs() -> None:
    text = lock_text(RUNNERS, cells())
    assert problems(text, lock_text({**RUNNERS, "linux": ["ubuntu-26.04"]}, cells())) == [
        """ci.lock:3: found 'runner linux ["ubuntu-24.04"]', expected 'runner linux ["ubuntu-26.04"]'; """ + WRITE
    ]
    assert problems(text.replace("\npr linux", "\n<<<<<<< ours\npr linux", 1), text) == [
        "ci.lock:5: found '<<<<<<< ours', expected 'pr linux linalg llvm-cpu - 2 f0b100d2b024aae0'; " + WRITE
    ]
    assert problems(text + "more\n", text) == [f"ci.lock:7: found 'more', expected ''; {WRITE}"]
    assert problems(text.rstrip("\n"), text) == [f"ci.lock:7: found the end of the file, expected ''; {WRITE}"]


NAMES = st.text("ab", min_size=1, max_size=2)
ANY_CELLS = st.dictionaries(
    st.builds(Cell, event=NAMES, runner=NAMES, suite=NAMES, compiler=NAMES, runtime=NAMES),
    st.lists(st.tuples(NAMES, st.just(())), min_size=1, max_size=3),
    max_size=6,
)


@given(ANY_CELLS, ANY_CELLS)
def test_what_differs_is_always_a_problem_and_what_agrees_never(one: Cells, other: Cells) -> None:
    texts = [lock_text({}, cells) for cells in (one, other)]
    assert bool(problems(*texts)) == (texts[0] != texts[1])


@given(ANY_CELLS, st.data())
def test_no_character_of_the_file_can_change_unnoticed(some: Cells, data: st.DataObject) -> None:
    text = lock_text(RUNNERS, some)
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(st.characters(exclude_characters=text[at], codec="utf-8")) + text[at + 1 :]
    assert problems(changed, text)
    assert problems(text[:at], text)
