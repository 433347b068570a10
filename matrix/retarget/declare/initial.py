"""The first declarations of a folder: which suites its modules make, and the text of `matrix.toml` and `suite.toml`.

The extensions know the modules, and the compilers for a device: `suggest_suites` and `suggest_targets`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from retarget.declare.sources import FileName, name_problem
from retarget.extension import CaseLoader, ModulesRequest, SuggestedSuite, SuggestedTarget
from retarget.extension.registry import Registry
from retarget.model.names import name_error
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import is_inside
from retarget.support.toml import toml_table

_NOT_ENTERED = frozenset({"__pycache__", "build", "dist", "node_modules", "venv"})
"""Folders without sources, besides hidden ones; pytest does not look for suites in them either."""

_FEW = 4
"""Up to this many files, or a fifth of those that it finds, a glob may find besides those that it shall: `exclude`."""

_MAGIC = re.compile(r"[*?\[\]\\]")
"""Characters with a meaning in globs; `?`?` replaces each."""

_MANY = 12
"""Files that are named one by one before a comment has only their number."""


class Survey(Struct, frozen=True, kw_only=True):
    """The contents of a folder.

    `files` can be modules. `unusable` are those that cannot, with the reason. `present` are all paths that a glob can
    find, relative and with `/`; those in folders that are `skipped` (`build`) are among them. `declared` are folders
    that have a `suite.toml` of their own.
    """

    folder: Path
    files: tuple[Path, ...]
    unusable: tuple[tuple[Path, str], ...]
    present: tuple[str, ...]
    skipped: tuple[str, ...]
    declared: tuple[str, ...]


def survey(folder: Path) -> Survey:
    """List what lies below a folder. Links to folders are not followed. Raises `RetargetError` for folders that cannot
    be listed."""
    files: list[Path] = []
    unusable: list[tuple[Path, str]] = []
    present: list[str] = []
    skipped: list[str] = []
    declared: list[str] = []

    def failed(error: OSError) -> None:
        msg = f"cannot list the folder {display_path(Path(str(error.filename)))}: {error.strerror or error}"
        raise RetargetError(msg) from error

    for at, folders, names in os.walk(folder, onerror=failed):
        here = Path(at)
        below = here.relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        is_inside = any(f"{below}/".startswith(f"{other}/") for other in skipped)
        if not is_inside and below != ".":
            is_declared = os.path.lexists(here / FileName.SUITE)
            if is_declared or here.name in _NOT_ENTERED or os.path.lexists(here / "pyvenv.cfg"):
                skipped.append(below)
                declared += [below] if is_declared else []
                is_inside = True
        for name in sorted(names):
            if name.startswith(".") or name in {*FileName}:
                continue
            present.append(f"{prefix}{name}")
            if not is_inside:
                path = here / name
                problem = _file_problem(path, f"{prefix}{name}", folder)
                if problem is None:
                    files.append(path)
                else:
                    unusable.append((path, problem))
    return Survey(
        folder=folder,
        files=tuple(sorted(files)),
        unusable=tuple(unusable),
        present=tuple(present),
        skipped=tuple(skipped),
        declared=tuple(declared),
    )


def _file_problem(path: Path, relative: str, folder: Path) -> str | None:
    """Return why a file cannot be a module whatever it holds, or None."""
    if path.is_symlink() and not path.exists():
        return "is a link to nothing"
    if not path.is_file():
        return "is no regular file"
    if path.is_symlink() and not is_inside(path, folder):
        return "links to a file outside this folder"
    if not os.access(path, os.R_OK):
        return "cannot be read: permission denied"
    if name_problem(relative) is not None:
        return "has a blank or one of : * ? [ ] \\ in its path, which becomes the name of targets: give it another name"
    return None


class PlannedSuite(Struct, frozen=True, kw_only=True):
    """A suite to declare, with its name."""

    name: str
    kind: str
    suggestion: SuggestedSuite


class Plan(Struct, frozen=True, kw_only=True):
    """All suites of a folder, and the modules that are in none with the reasons."""

    suites: tuple[PlannedSuite, ...]
    left_out: tuple[tuple[Path, str], ...]


def plan_suites(
    found: Survey, registry: Registry, *, reference: str, taken: Sequence[str], suites: Sequence[str] = ()
) -> Plan:
    """Ask each kind for suites of the files that no kind before it has taken.

    `taken` are words that no suite can have as its name, because they are tags of other things, `suites` the names of
    the project's suites. Raises `RetargetError`
    for what an extension reports.
    """
    kinds = sorted(registry.case_loaders.items(), key=lambda pair: -pair[1].precedence)
    left_out: list[tuple[Path, str]] = []
    data: list[tuple[Path, str]] = []
    files = dict.fromkeys(found.files)
    chosen: list[tuple[str, SuggestedSuite]] = []
    for kind, loader in kinds:
        request = ModulesRequest(folder=found.folder, files=tuple(files), reference=reference)
        suggested = loader.suggest_suites(request)
        left_out += suggested.left_out
        data += suggested.data
        for path, _ in suggested.left_out:
            files.pop(path, None)
        for suite in suggested.suites:
            chosen.append((kind, suite))
            for path in (*suite.files, *suite.used):
                files.pop(path, None)
    suffixes = {path.suffix for _, suite in chosen for path in suite.files} | {path.suffix for path, _ in left_out}
    left_out += [(path, problem) for path, problem in found.unusable if path.suffix in suffixes]
    if chosen or left_out:
        used = {path for kind, suite in chosen for path in _data(found.folder, registry.case_loaders[kind], suite)}
        left_out += [(path, advice) for path, advice in data if path in files and path not in used]
    base = _base_name(found.folder, {*taken, *registry.case_loaders}, suites)
    planned = []
    for kind, suite in chosen:
        words = [base] if len(chosen) == 1 else [base, kind]
        planned.append(PlannedSuite(name="-".join([*words, *filter(None, [suite.label])]), kind=kind, suggestion=suite))
    return Plan(suites=tuple(planned), left_out=tuple(sorted(left_out)))


def _data(folder: Path, kind: CaseLoader, suite: SuggestedSuite) -> Iterator[Path]:
    """Yield the files of values that the cases of a suite name. What is wrong with them `retarget check` says."""
    if not kind.overrides("find_modules"):
        return
    with suppress(RetargetError):
        for module in kind.find_modules(folder, suite.files):
            yield from module.data
            yield from map(Path, map(os.path.normpath, kind.data_files(module, folder)))


def _base_name(folder: Path, taken: set[str], suites: Sequence[str]) -> str:
    """Return a suite's name after the folder's. It becomes a tag, so it must not be the tag of something else."""
    parts = [re.sub(r"[^A-Za-z0-9._+-]+", "-", part).strip("-._+") for part in folder.resolve().parts]
    parts = [part for part in parts if part] or ["suite"]
    name = parts.pop()
    name = f"{name}-tests" if name in taken or name_error(name) else name
    while parts and any(other == name or other.startswith(f"{name}-") for other in suites):
        name = f"{parts.pop()}-{name}"
    return name


# ---------------------------------------------------------------- globs


def globs_for(
    wanted: Sequence[str], present: Sequence[str], skipped: Sequence[str] = (), *, by_name: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the `srcs` and `exclude` that find exactly `wanted` among `present`; paths are relative, with `/`.

    Globs are taken where they find few others, so that files that come later are found too. `skipped` are folders of
    which nothing is wanted. `by_name` takes whole file names for globs, where there are few.
    """
    srcs: dict[str, None] = {}
    exclude: dict[str, None] = {}
    chosen, names = set(wanted), dict.fromkeys(Path(path).name for path in wanted)
    if not by_name or len(names) > _FEW:
        names = dict.fromkeys(f"*{Path(name).suffix}" if Path(name).suffix else name for name in names)
    for pattern in names:
        alike = [path for path in present if fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)]
        aside = {path: folder for folder in skipped for path in alike if path.startswith(f"{folder}/")}
        near = [path for path in alike if path not in aside]
        mine = [path for path in near if path in chosen]
        if any("/" in path for path in mine) and _are_few(
            others := [path for path in near if path not in chosen], near
        ):
            srcs[f"**/{pattern}"] = None
            exclude |= dict.fromkeys(_MAGIC.sub("?", path) for path in others)
            exclude |= dict.fromkeys(f"{folder}/**" for folder in sorted({*aside.values()}))
            continue
        for folder in dict.fromkeys(path[: path.rfind("/") + 1] for path in mine):
            beside = [path for path in near if path[: path.rfind("/") + 1] == folder]
            others = [path for path in beside if path not in chosen]
            if _are_few(others, beside):
                srcs[f"{folder}{pattern}"] = None
                exclude |= dict.fromkeys(_MAGIC.sub("?", path) for path in others)
            else:
                srcs |= dict.fromkeys(path for path in beside if path in chosen)
    return tuple(srcs), tuple(exclude)


def _are_few(others: Sequence[str], among: Sequence[str]) -> bool:
    return len(others) * 2 <= len(among) and len(others) <= max(_FEW, len(among) // 5)


# ---------------------------------------------------------------- text


def matrix_text(targets: Sequence[SuggestedTarget], compilers: Mapping[str, str], absent: Sequence[str]) -> str:
    """Return a `matrix.toml`. `compilers` has the compiler of each compiler config; `absent` are lines on drivers that
    found no device."""
    parts = [
        "# How modules are compiled and where they run, for the suites in this folder and below.\n"
        "# Written by `retarget init` for the devices of this machine. Another machine skips what it does not have."
    ]
    runtimes = dict.fromkeys(driver for target in targets for driver in target.drivers)
    for target in targets:
        table = target.compiler_text(compilers[target.compiler_config])
        parts.append(f"# {target.comment}\n{table}")
    parts += [toml_table("runtime_config", name=driver, driver=driver) for driver in runtimes]
    heading = "# The names that suites use: what is compiled how, and run where.\n"
    for target in targets:
        table = toml_table("target_config", name=target.name, compiler=target.compiler_config, runtimes=target.drivers)
        parts.append(heading + table)
        heading = ""
    if absent:
        lines = ["# Drivers that found no device here (`retarget devices` looks again):"]
        parts.append("\n".join([*lines, *(f"#   {line}" for line in absent)]))
    return "\n\n".join(parts) + "\n"


def suite_text(plan: Plan, found: Survey, targets: Mapping[str, Sequence[str]]) -> str:
    """Return a `suite.toml`. `targets` has the target configs of each suite by its name."""
    parts = ["# Which modules are tested, and on which targets. Written by `retarget init`."]
    for suite in plan.suites:
        files = [path.relative_to(found.folder).as_posix() for path in suite.suggestion.files]
        srcs, exclude = globs_for(files, found.present, found.skipped, by_name=suite.suggestion.by_name)
        table = toml_table(
            "module_test_suite",
            name=suite.name,
            srcs=srcs,
            exclude=exclude or None,
            kind=suite.kind,
            targets=targets[suite.name],
            compiler_flags=suite.suggestion.compiler_flags or None,
            agree=suite.suggestion.agree or None,
        )
        parts.append("\n".join([*(f"# {line}" for line in suite.suggestion.comment), table]))
    if plan.left_out:
        lines = ["# In no suite:"]
        for path, reason in plan.left_out[:_MANY]:
            text = f"{path.relative_to(found.folder).as_posix()!r} {reason}"
            lines += textwrap.wrap(text, 116, initial_indent="#   ", subsequent_indent="#     ")
        if len(plan.left_out) > _MANY:
            lines.append(f"#   and {len(plan.left_out) - _MANY} more files")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
