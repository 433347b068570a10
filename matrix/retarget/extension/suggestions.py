"""The extension API of `retarget init`: what compilers and kinds may offer so that it writes declarations for them.

A part of `retarget.extension`, whose names these are too. All of it runs in the process of the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from retarget.model.outcomes import DeviceInfo

__all__ = ["ModulesRequest", "SuggestedSuite", "SuggestedTarget", "Suggestions", "SuggestsSuites", "SuggestsTargets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedTarget:
    """A target config with the compiler config and the runtime configs that it needs, named after their drivers.

    `comment` is one line, which says what it is. `is_reference` marks one that computes without the device's own code
    generation, so that the results of others can be compared with its; it is declared where a suite compares.
    """

    name: str
    comment: str
    compiler_config: str
    flags: tuple[str, ...] = ()
    target_from: tuple[str, ...] = ()
    drivers: tuple[str, ...]
    is_reference: bool = False


@runtime_checkable
class SuggestsTargets(Protocol):
    """A compiler that suggests target configs for `retarget init`."""

    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        """Return a target config for each sort of device that this compiler compiles for, the CPU's first.

        `devices` are those found here, by driver; a driver without devices is not in it.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulesRequest:
    """The files to look at: `files` are below `folder`, sorted. `reference` is the name of the compiler config that
    others can be compared with, empty where there is only one."""

    folder: Path
    files: tuple[Path, ...]
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedSuite:
    """A suite: `files` are all that its `srcs` must match. `comment` has the lines above it.

    `label` distinguishes several suites of one kind. `by_name` means that modules are found by whole file names
    (`flags.txt`) rather than by suffixes. `used` are files that belong to its modules and are no modules of
    other kinds. `writes` are new files with their texts, such as cases. `compares` means that it needs a reference.
    `compiles_only` means that nothing is run.
    """

    files: tuple[Path, ...]
    comment: tuple[str, ...]
    label: str = ""
    by_name: bool = False
    compiler_flags: tuple[str, ...] = ()
    used: tuple[Path, ...] = ()
    writes: tuple[tuple[Path, str], ...] = ()
    compares: bool = False
    compiles_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The suites of one kind, and the files that are modules but cannot be tested as they are, each with the reason.

    `data` are files of values beside modules, each with what to do if no suite uses it.
    """

    suites: tuple[SuggestedSuite, ...] = ()
    left_out: tuple[tuple[Path, str], ...] = ()
    data: tuple[tuple[Path, str], ...] = ()


@runtime_checkable
class SuggestsSuites(Protocol):
    """A case loader that recognises its modules for `retarget init`.

    Kinds are called in the order of `precedence`, the highest first; files that one has taken or left out are not shown
    to the next. Of the kinds that come with retarget, `run-module` has 40, `check` 30, `filecheck` 20, `onnx` 15,
    `cases` 10.
    """

    precedence: int

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return the suites for those of the files that are modules of this kind. Reads files below the folder only."""
