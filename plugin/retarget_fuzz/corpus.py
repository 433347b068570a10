"""The corpus: a suite for each program that passes everywhere and covers something that none before it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from retarget_fuzz.found import declared_on, read_list, write_list
from retarget_fuzz.suites import write_module, write_suite
from retarget_fuzz.targets import Config

if TYPE_CHECKING:
    from retarget_fuzz.programs.program import Program

_LIST = "corpus.json"


class Entry(Struct, frozen=True, kw_only=True):
    """A program that is kept: its folder, and what was new of it."""

    name: str
    covers: frozenset[str]


class Corpus:
    """The programs in a folder. Each change is written at once."""

    def __init__(self, folder: Path, entries: Iterable[Entry] = ()) -> None:
        self.folder = folder
        self.entries = list(entries)
        self._covered = {one for entry in self.entries for one in entry.covers}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the corpus of a folder, without what has gone. Raises `RetargetError` for a folder of something
        else."""
        return cls(folder, [one for one in read_list(folder, _LIST, Entry) if (folder / one.name).is_dir()])

    def consider(self, program: Program, dispatches: Mapping[str, int], configs: Sequence[Config]) -> bool:
        """Keep a program, declared on some configs, if it covers something new; `dispatches` counts those of compiler
        configs. Raises `OSError`."""
        made = {f"dispatches:{compiler}:{number}" for compiler, number in dispatches.items()}
        new = (program.features() | made) - self._covered
        if not new:
            return False
        name = f"corpus-{program.digest}"
        write_module(self.folder / name, program)
        comment = f"Kept by `retarget fuzz` for: {', '.join(sorted(new))}"
        write_suite(self.folder / name, name, declared_on(configs), comment=comment)
        self.entries.append(Entry(name=name, covers=frozenset(new)))
        self._covered |= new
        write_list(self.folder, _LIST, self.entries)
        return True
