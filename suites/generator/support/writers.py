"""The functions that fill modules, each marked with the paths that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from generator.support.module import Module


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A function and its calls: the path of a module, its comment, the arguments."""

    fill: Callable[..., None]
    calls: tuple[tuple[str, str, tuple[Any, ...]], ...] = ()

    def modules(self) -> Iterator[Module]:
        """Write every module."""
        for path, about, arguments in self.calls:
            written = Module(path=path, about=about, generator=f"suites/{self.fill.__module__.replace('.', '/')}.py")
            self.fill(written, *arguments)
            yield written


def module(path: str, *arguments: Any, about: str = "") -> Callable[[Callable[..., None] | Writer], Writer]:
    """Mark a function that fills the module at `path`, called with the module and these arguments.

    The comment of the module is `about`, else the docstring; a function may also assign it itself.
    """

    def mark(fill: Callable[..., None] | Writer) -> Writer:
        writer = fill if isinstance(fill, Writer) else Writer(fill=fill)
        return replace(writer, calls=((path, about or writer.fill.__doc__ or "", arguments), *writer.calls))

    return mark


def each(path: str, *arguments: Any) -> Callable[[Callable[..., None]], Writer]:
    """Mark a function that fills one module for each argument, which its docstring and the path call {0}."""

    def mark(fill: Callable[..., None]) -> Writer:
        calls = ((path.format(one), (fill.__doc__ or "").format(one), (one,)) for one in arguments)
        return Writer(fill=fill, calls=tuple(calls))

    return mark
