"""The signature of a function in a module: its calling convention and its declared types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from retarget.model.calls import DriverError
from retarget.model.element_types import split_types

__all__ = ["Signature", "declared_types", "parse_signature"]

_CONVENTION = re.compile(
    r"^<VmFunction (?P<name>.*?)\((?P<version>\d)(?P<arguments>[a-zA-Z]*)_(?P<results>[a-zA-Z]*)\)"
)
_DECLARATION = re.compile(
    r"^(?P<model>\w+) func @.*?\((?P<arguments>.*)\) -> \((?P<results>.*)\)\s*(?:\{.*\})?$", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function's arguments and results.

    `arguments` and `results` hold one letter each, as the VM passes them: `i`, `I`, `f`, `F` numbers of 32 and 64 bits,
    `r` references. None where the module does not say. The declared types are beside them, one per letter, or are
    empty where the module says nothing of them.
    """

    arguments: str | None
    results: str | None
    argument_types: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()

    def passed(self, function: str, count: int) -> list[tuple[str, str]]:
        """Return the letter and the declared type of each argument. Raises `DriverError` if there are not `count`."""
        letters, types = self.arguments, self.argument_types
        if letters is not None and len(letters) != count:
            listed = f" ({', '.join(types)})" if types else ""
            msg = f"{function} takes {len(letters)} arguments{listed}; {count} were given"
            raise DriverError(msg)
        return list(zip("r" * count if letters is None else letters, types or [""] * count, strict=True))

    def returned(self, count: int = 0) -> list[tuple[str, str]]:
        """Return the letter and the declared type of each result, `count` of them where the module does not say."""
        letters = "r" * count if self.results is None else self.results
        return list(zip(letters, self.result_types or [""] * len(letters), strict=True))


def parse_signature(shown: str, reflection: Mapping[str, str]) -> Signature:
    """Read the signature from what a VM function shows of itself and from its reflection attributes."""
    convention = _CONVENTION.match(shown)
    if convention is None:
        return Signature(arguments=None, results=None)
    arguments = convention["arguments"].replace("v", "")
    results = convention["results"].replace("v", "")
    argument_types, result_types = declared_types(reflection.get("iree.abi.declaration", ""))
    return Signature(
        arguments=arguments,
        results=results,
        argument_types=argument_types if len(argument_types) == len(arguments) else (),
        result_types=result_types if len(result_types) == len(results) else (),
    )


def declared_types(declaration: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the types of arguments and results of a declaration (`sync func @f(%input0: i32) -> (…)`), both empty for
    what is none."""
    match = _DECLARATION.match(declaration)
    return ((), ()) if match is None else (_types(match["arguments"]), _types(match["results"]))


def _types(parts: str) -> tuple[str, ...]:
    """Return the types of a declaration's argument or result list, without names (`%input0: i32` → `i32`)."""
    return tuple(re.sub(r"^%[\w$.-]+:\s*", "", part).split(" {")[0].strip() for part in split_types(parts))
