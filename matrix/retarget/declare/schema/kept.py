"""The validated tables of a declaration file, and how they are kept: a text that was read before needs no pydantic.

Importing pydantic and building the models takes as long as a third of a session with one warm target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from msgspec import Struct, field

from retarget.support.errors import Diagnostic, RetargetError
from retarget.support.toml import KeyPath, Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

    from retarget.declare.schema.tables import (
        CompilerConfigTable,
        ExpectationTable,
        GoldenTable,
        HostTable,
        ModuleTestSuiteTable,
        RuntimeConfigTable,
        TargetConfigTable,
        ToolchainTable,
    )

_Table = TypeVar("_Table", bound="BaseModel")

SORTS: Mapping[str, str] = {
    "toolchains": "toolchain",
    "hosts": "host",
    "compilers": "compiler_config",
    "runtimes": "runtime_config",
    "targets": "target_config",
    "suites": "module_test_suite",
    "expectations": "expectation",
    "goldens": "golden",
}
"""The fields of `FileTables` that hold tables, with the key of these tables in a file."""


class Declared(Struct, Generic[_Table], frozen=True, kw_only=True):
    """One table as written (axes filled in), and its source location."""

    path: KeyPath
    table: _Table


class FileTables(Struct, frozen=True, kw_only=True):
    """The declarations of one file, as far as they are well-formed.

    `invalid` are, for each sort, names of tables with an error; `hiding` are the sorts in which an error hides names.
    References to either are no errors. `problems` are the errors of tables, `unreadable` those of a file without any.
    """

    file: Path
    text: str = ""
    root: bool = False
    toolchains: tuple[Declared[ToolchainTable], ...] = ()
    hosts: tuple[Declared[HostTable], ...] = ()
    compilers: tuple[Declared[CompilerConfigTable], ...] = ()
    runtimes: tuple[Declared[RuntimeConfigTable], ...] = ()
    targets: tuple[Declared[TargetConfigTable], ...] = ()
    suites: tuple[Declared[ModuleTestSuiteTable], ...] = ()
    expectations: tuple[Declared[ExpectationTable], ...] = ()
    goldens: tuple[Declared[GoldenTable], ...] = ()
    invalid: Mapping[str, frozenset[str]] = field(default_factory=dict)
    hiding: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[Diagnostic, ...] = ()


class TableStore(Protocol):
    """Where tables are kept, by the digest of their text. Both raise `RetargetError` where it cannot be used."""

    def read_resolution(self, key: str) -> dict[str, Any] | None:
        """Return what is under a key, None if there is nothing."""

    def write_resolution(self, key: str, body: dict[str, Any]) -> None:
        """Put a JSON object under a key."""


class CachedTable:
    """A table from the store, without its pydantic model, with the attributes and methods of it that are used."""

    def __init__(self, values: Mapping[str, Any], given: Iterable[str] = ()) -> None:
        """`given` are the keys that are written in the file."""
        self._values = values
        self.model_fields_set = set(given)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._values.items())

    def model_copy(self, *, update: Mapping[str, Any]) -> CachedTable:
        """Return the table with other values."""
        return CachedTable({**self._values, **update}, self.model_fields_set | update.keys())


def text_key(text: str) -> str:
    """Return the key under which a file's tables are kept: of its text, and of the code that makes tables of it."""
    return hashlib.sha256(f"tables {_code()} {text}".encode()).hexdigest()


@cache
def _code() -> str:
    here = Path(__file__).parent
    others = ("declare/read.py", "model/metrics.py", "support/toml.py")
    sources = (*sorted(here.glob("*.py")), *(here.parents[1] / other for other in others))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


def keep_tables(store: TableStore, tables: FileTables) -> None:
    """Keep the tables of a file without errors, if JSON gives them back as they are."""
    if tables.problems or tables.invalid or tables.hiding or tables.unreadable:
        return
    sorts = {sort: [_written(entry) for entry in getattr(tables, sort)] for sort in SORTS}
    with suppress(RetargetError, OSError, TypeError):  # a compile reports a store that cannot be used
        store.write_resolution(text_key(tables.text), {"root": tables.root, "sorts": sorts})


def _written(entry: Declared[Any]) -> dict[str, Any]:
    values = entry.table.model_dump()
    if isinstance(until := values.get("until"), date):
        values["until"] = until.isoformat()
    return {"path": list(entry.path), "values": values, "given": sorted(entry.table.model_fields_set)}


def find_tables(store: TableStore, file: Path, text: str) -> FileTables | None:
    """Return the tables that are kept of a text, None where there are none."""
    with suppress(
        RetargetError, OSError, KeyError, TypeError, ValueError
    ):  # what has another form is as if it were not there
        if (body := store.read_resolution(text_key(text))) is not None:
            sorts = {sort: tuple(map(_read, body["sorts"][sort])) for sort in SORTS}
            root = body["root"] is True
            return FileTables(file=file, text=text, root=root, **cast("dict[str, Any]", sorts))
    return None


def _read(entry: Mapping[str, Any]) -> Declared[Any]:
    kind, index = entry["path"]
    values = dict(entry["values"])
    if values.get("until") is not None:
        values["until"] = date.fromisoformat(values["until"])
    for nested in ("devices", "module"):
        if isinstance(written := values.get(nested), list):
            values[nested] = [CachedTable(one) for one in written]
    return Declared(path=(kind, index), table=cast("Any", CachedTable(values, entry["given"])))


def fields_of(table: Iterable[tuple[str, Any]], record: type[Struct]) -> dict[str, Any]:
    """Return the values of a table's keys that a record has fields for too, with tuples for arrays and tables."""
    return {name: _frozen(value) for name, value in table if name in record.__struct_fields__}


def _frozen(value: Any) -> Any:
    return tuple(value.items() if isinstance(value, dict) else value) if isinstance(value, list | dict) else value
