"""`--watch`: which files are watched, and what differs between two runs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from retarget.model import Toolchain
from retarget.support.errors import RetargetError, display_path
from retarget.support.installing import install_hint

from retarget_bringup.status.model import Status
from retarget_bringup.status.moved import Lines, moves
from retarget_bringup.status.text import heading, move_lines

_DEBOUNCE_MS = 1000
"""How long it must be quiet: a linker writes for a while."""

_SHOWN = 10
_LEFT_BY_TOOLS = ("__pycache__", "node_modules")
_ABOVE = ("matrix.toml", "expectations.toml")


def watched(
    root: Path, paths: Sequence[str], own: Path, toolchains: Iterable[Toolchain | None], extensions: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Return the files and folders on which the results depend: the modules and their declarations in `paths` below
    `root`, the settings in `own`, the folders of toolchains, the packages of extensions, and what is installed in the
    environment."""
    folders = [root / path.partition("::")[0] for path in paths]
    folders += [own, *(root / name for name in _ABOVE)]
    folders += [one.path for one in toolchains if one is not None and one.path is not None]
    folders += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    modules = [point.value for point in importlib.metadata.entry_points(group="retarget")]
    for package in dict.fromkeys(name.partition(":")[0].partition(".")[0] for name in (*modules, *extensions)):
        spec = importlib.util.find_spec(package)
        if spec is not None:
            folders += map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))
    there = dict.fromkeys(folder.resolve() for folder in folders if folder.exists())
    return tuple(one for one in there if not any(above in there for above in one.parents))


def is_ours(path: str, folders: Sequence[Path]) -> bool:
    """Return whether a changed file counts: not what Python, git or editors keep beside others."""
    file = Path(path)
    folder = next((one for one in folders if file.is_relative_to(one)), file.parent)
    parts = file.relative_to(folder).parts
    hidden = any(part.startswith(".") or part in _LEFT_BY_TOOLS for part in parts)
    return not hidden and not path.endswith(("~", ".ladder", ".pyc"))


def changed_files(folders: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Watch from now on; return what yields the files that changed, each time that it has become quiet, until Ctrl-C.

    Changes between two calls are kept. Raises `RetargetError` where the library is missing.
    """
    try:
        import watchfiles
    except ImportError as error:
        msg = f"--watch needs the package watchfiles; {install_hint('bringup')}"
        raise RetargetError(msg) from error
    found = watchfiles.watch(
        *folders,
        watch_filter=lambda _, path: is_ours(path, folders),
        debounce=_DEBOUNCE_MS,
        step=_DEBOUNCE_MS // 5,
        rust_timeout=_DEBOUNCE_MS,
        yield_on_timeout=True,
    )
    first = next(found)  # it begins to watch when it is asked first
    several = (tuple({Path(path) for _, path in changes}) for changes in chain([first], found) if changes)
    return (tuple(sorted(files, key=lambda file: (not file.exists(), file))) for files in several)


def difference(files: Sequence[Path], before: tuple[Status, Lines], after: tuple[Status, Lines]) -> Iterator[str]:
    """Yield what differs between two runs: targets up and down, signatures that are new or gone."""
    if files:
        rest = f" and {len(files) - 1} more" if len(files) > 1 else ""
        yield f"changed: {display_path(files[0])}{rest}"
    (old, old_lines), (new, new_lines) = before, after
    moved = moves(old_lines, new_lines)
    lines = [
        line
        for found, word in ((moved.down, "down"), (moved.up, "up"), (moved.new, "new"))
        for line in move_lines(found, word, _SHOWN)
    ]
    known = {(one.stage, one.signature) for one in old.blockers}
    left = {(one.stage, one.signature) for one in new.blockers}
    for one in new.blockers:
        if (one.stage, one.signature) not in known:
            lines += [f"  new signature, of {one.frees}: {one.stage}: {one.signature}", f"        {one.command}"]
    lines += [f"  gone signature: {stage}: {signature}" for stage, signature in sorted(known - left)]
    yield from lines
    yield f"{heading(new)}{'' if lines else ', nothing moved'}"
