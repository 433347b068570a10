"""The findings of an importer in one report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from retarget.model.outcomes import FeatureValue
from retarget.profiles.names import value_error
from retarget.support.errors import Diagnostic
from retarget.support.toml.keypaths import KeyPath, format_key_path


class Report(Struct, kw_only=True):
    """One device as a tool describes it. `tool` is the command that writes such reports.

    `values` has the capabilities by name, `places` the key path of each in the file, `errors` what cannot be.
    """

    file: Path
    tool: str
    driver: str
    identity: dict[str, str] = field(default_factory=dict)
    values: dict[str, FeatureValue] = field(default_factory=dict)
    places: dict[str, KeyPath] = field(default_factory=dict)
    errors: list[Diagnostic] = field(default_factory=list)

    @property
    def source(self) -> str:
        """Where the values come from, as a profile has it."""
        return f"{self.tool}: {self.file.name}"

    def add(self, name: str, value: FeatureValue, place: KeyPath = ()) -> None:
        """Take a value, unless it is impossible or another one is there already."""
        if message := value_error(name, value):
            self.error(place, message)
        elif name in self.values and self.values[name] != value:
            first = format_key_path(self.places[name])
            self.error(place, f"found {name} = {value!r}, expected {self.values[name]!r} as in {first}")
        else:
            self.values.setdefault(name, value)
            self.places.setdefault(name, place)

    def table(self, value: object, place: KeyPath) -> Mapping[str, Any]:
        """Return a value that must be a table of JSON; an empty one with an error where it is none."""
        if isinstance(value, dict):
            return value
        self.error(place, f"found {value!r}, expected a table")
        return {}

    def error(self, place: KeyPath, message: str) -> None:
        """Note an error of the file."""
        self.errors.append(Diagnostic(file=self.file, line=0, key_path=format_key_path(place), message=message))


def frozen_list(value: object) -> FeatureValue | None:
    """Return a value of JSON as that of a capability; None where it cannot be one."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return tuple(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None
