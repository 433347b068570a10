"""The data of the matrix: `matrix.js`, the first view, and `cells-N.js`, what is known of the targets of some rows.

`matrix`: every target in few bytes. Where a list is "by cell", cell = row * columns + column of its suite.

    states      [[word, code, glyph, label, sort, meaning], …], see `retarget_report.read`
    stages      [name, …]
    words       [tag | [mark, [[argument, value], …]], …], what `-m` can name
    wordsets    [[index into words, …], …]
    signatures  [text, …], cut to 300 characters
    planned     whether there is a plan: then an empty cell is not planned
    suites      [{
        name, file
        columns     [[compiler, runtime or "", index into wordsets], …]
        rows        [name of the module, …]
        words       index into wordsets by row; a target has the words of its row, of its column, and its own
        own         [cell, index into wordsets, cell, …] where a target has further words
        cells       the code of the state by cell, in one text; a blank where there is no target
        stages      index into stages + 1 by cell, as a digit, where the target failed; else a blank
        signed      [cell - the cell before it in this list, index into signatures, …] where it has a signature
        tries       [cell, attempts that passed, attempts, …] where it was tried more than once
        shards      [[first row, name of the file with the cells from here on], …]
    }, …]

`cells-N`: {suite, first, cells: {row * columns + column: target}}, where `target` is {id, leg, waiver, sessions,
attribution: [sentence, section] or null, attempts: [record, …]}, and a record is a line of the results without its tags
and marks. Texts of more than 48 KiB are cut in their middle. A file has about 512 KiB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import msgspec
from retarget.results import Result, TargetRecord

from retarget_report.read import Report, State, Target

_SHARD = 512 * 1024
_LONGEST = 48 * 1024
_SIGNATURE = 300

_Words = frozenset[int]


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the files of the matrix."""
    words, signatures, stages = _Index(), _Index(), _Index()
    wordsets = _Index()
    suites: list[dict[str, Any]] = []
    files = 0
    for (file, name), suite in _suites(report):
        shards = []
        for first, cells in suite.shards(report):
            files += 1
            shards.append([first, f"cells-{files}"])
            yield f"cells-{files}", {"suite": len(suites), "first": first, "cells": cells}
        tabled = suite.table(words, wordsets, signatures, stages)
        suites.append({"name": name, "file": file, **tabled, "shards": shards})
    yield (
        "matrix",
        {
            "states": [[one, one.code, one.glyph, one.label, one.sort, one.meaning] for one in State],
            "stages": stages.values,
            "words": words.values,
            "wordsets": [sorted(one) for one in wordsets.values],
            "signatures": [_cut(signature, _SIGNATURE) for signature in signatures.values],
            "planned": bool(report.plans),
            "suites": suites,
        },
    )


def numbered(report: Report) -> list[Target]:
    """Return the targets in the order in which all views number them: by suite, then by cell."""
    return [target for _, suite in _suites(report) for target in suite.cells.values()]


def _suites(report: Report) -> Iterator[tuple[tuple[str, str], _Suite]]:
    groups: dict[tuple[str, str], list[Target]] = {}
    for target in report.targets:
        groups.setdefault((target.suite_file, target.suite), []).append(target)
    for name, targets in groups.items():
        yield name, _Suite(targets)


class _Index:
    """Values, each once, by their number."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[Any]:
        return list(self._numbers)


class _Suite:
    """The targets of a suite as rows and columns."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._rows = list(dict.fromkeys(target.module for target in targets))
        compilers = list(dict.fromkeys(target.compiler for target in targets))
        configs = dict.fromkeys((target.compiler, target.runtime) for target in targets)
        self._columns = sorted(configs, key=lambda config: (compilers.index(config[0]), config[1] != ""))
        rows = {module: row for row, module in enumerate(self._rows)}
        columns = {config: column for column, config in enumerate(self._columns)}
        width = len(self._columns)
        at = {rows[target.module] * width + columns[target.compiler, target.runtime]: target for target in targets}
        self.cells = {cell: at[cell] for cell in sorted(at)}

    def shards(self, report: Report) -> Iterator[tuple[int, dict[str, msgspec.Raw]]]:
        """Yield the first row of each file, with what is known of the targets from there on."""
        cells: dict[str, msgspec.Raw] = {}
        size = first = row = 0
        for cell, target in self.cells.items():
            before, row = row, cell // len(self._columns)
            if size > _SHARD and row > before:
                yield first, cells
                cells, size, first = {}, 0, row
            encoded = _encoded(target, report.attributions.get(target.id))
            cells[str(cell)] = msgspec.Raw(encoded)
            size += len(encoded)
        yield first, cells

    def table(self, words: _Index, wordsets: _Index, signatures: _Index, stages: _Index) -> dict[str, Any]:
        """Return the suite without details."""
        width, height = len(self._columns), len(self._rows)
        known: dict[int, _Words] = {
            cell: frozenset(map(words, _words(record)))
            for cell, target in self.cells.items()
            if (record := target.record) is not None
        }
        of_column = [_common(known, (row * width + column for row in range(height))) for column in range(width)]
        for column, config in enumerate(self._columns):  # one without any result: what its name says
            of_column[column] = of_column[column] or frozenset(map(words, _names(*config)))
        rest = {cell: has - of_column[cell % width] for cell, has in known.items()}
        of_row = [_common(rest, range(row * width, row * width + width)) for row in range(height)]
        codes, failed = [" "] * (width * height), [" "] * (width * height)
        own: list[int] = []
        signed: list[int] = []
        tries: list[int] = []
        last = 0
        for cell, target in self.cells.items():
            codes[cell] = target.state.code
            if target.stage:
                failed[cell] = str(stages(target.stage) + 1)
            if further := rest.get(cell, frozenset()) - of_row[cell // width]:
                own += [cell, wordsets(further)]
            if target.signature:
                signed += [cell - last, signatures(target.signature)]
                last = cell
            if (record := target.record) is not None and record.attempt > 1:
                tries += [cell, int(record.result is Result.PASSED), record.attempt]
        return {
            "columns": [[*config, wordsets(of_column[column])] for column, config in enumerate(self._columns)],
            "rows": self._rows,
            "words": [wordsets(one) for one in of_row],
            "own": own,
            "cells": "".join(codes),
            "stages": "".join(failed),
            "signed": signed,
            "tries": tries,
        }


def _words(record: TargetRecord) -> Iterator[Any]:
    yield from record.tags
    yield from record.marks


def _names(compiler: str, runtime: str) -> Iterator[Any]:
    for mark, name in (("compiler", compiler), ("runtime", runtime)):
        if name:
            yield name
            yield mark, (("name", name),)
    yield "run" if runtime else "compile"


def _common(known: dict[int, _Words], cells: Iterable[int]) -> _Words:
    return (
        reduce(_Words.intersection, found) if (found := [known[cell] for cell in cells if cell in known]) else _Words()
    )


def _encoded(target: Target, attribution: tuple[str, str] | None) -> bytes:
    whole = {
        "id": target.id,
        "leg": target.leg,
        "waiver": target.waiver,
        "sessions": target.sessions,
        "attribution": attribution,
        "attempts": [msgspec.structs.replace(record, tags=(), marks=(), siblings=()) for record in target.attempts],
    }
    encoded = msgspec.json.encode(whole)
    if len(encoded) <= _LONGEST:
        return encoded
    return msgspec.json.encode(_with_short_texts(msgspec.to_builtins(whole)))


def _with_short_texts(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value, _LONGEST)
    if isinstance(value, dict):
        return {key: _with_short_texts(one) for key, one in value.items()}
    return [_with_short_texts(one) for one in value] if isinstance(value, list) else value


def _cut(text: str, longest: int) -> str:
    """Return a text with at most so many characters, and how many of its middle are left out."""
    if len(text) <= longest:
        return text
    return f"{text[: longest * 3 // 4]} … {len(text) - longest:,} characters are left out … {text[-(longest // 4) :]}"
