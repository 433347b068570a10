"""`retarget cache info|clear|verify`."""

from __future__ import annotations

import argparse
import sys

from retarget.session.cache.folder import CacheChoice, leftovers, sweep
from retarget.session.cache.generated import module_sets
from retarget.session.cache.remote_store import RemoteStore
from retarget.session.cache.store import Store
from retarget.support.errors import RetargetError
from retarget.support.text import size_text

_COUNTS = ("entries", "failures", "artifacts", "resolutions", "results", "binaries")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget cache`."""
    bound = "RETARGET_CACHE_SIZE bounds the cache (4G): what was used longest ago goes first."
    parser.epilog = f"{bound}\n\n{parser.epilog}"
    parser.add_argument(
        "action",
        choices=("info", "clear", "verify"),
        help="show what is kept, remove it all, or check every file of it",
    )
    parser.add_argument(
        "--cache-dir", default="", metavar="DIR", help="the cache folder (that of pytest in the current folder)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand. Returns 0; 1 if `verify` removed something. Raises `RetargetError` for an unusable folder."""
    choice = CacheChoice.of_command(arguments.cache_dir)
    folder = choice.folder
    if folder.exists() and not folder.is_dir():
        msg = f"the cache folder {folder} is a file; expected a folder: give another with --cache-dir"
        raise RetargetError(msg)
    store = Store(folder)
    if arguments.action == "clear":
        freed = store.clear()
        swept = sweep(store)
        used = [modules.path.name for modules in module_sets(folder)]
        lines = [f"{folder}: {size_text(freed)} freed"]
        lines += [f"leftovers of killed sessions removed: {swept}"] if swept else []
        lines += [f"{name} is kept: a running session uses it" for name in used]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return 0
    if arguments.action == "verify":
        found = store.verify()
        lines = [*found.removed, f"{folder}: {found.checked} files checked, {len(found.removed)} removed"]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        return 1 if found.removed else 0
    info = store.info()
    left = leftovers(store)
    remote = RemoteStore.configured()
    settings = None if remote is None else remote.settings
    wrong = "" if remote is None else remote.ask()
    text = (
        f"folder       {folder}\n"
        f"chosen by    {choice.source}{f' (not used by pytest: {choice.unused})' if choice.unused else ''}\n"
        f"compiles     {info.entries}, of which {info.failures} failed\n"
        + "".join(f"{name:<13}{getattr(info, name)}\n" for name in _COUNTS[2:])
        + "".join(f"generated    {modules.path.name}: {size_text(modules.size)}\n" for modules in info.generated)
        + (f"leftovers    {len(left)} (files and folders of killed sessions, removed once a day)\n" if left else "")
        + f"size         {size_text(info.size)} of at most {size_text(info.max_bytes)}"
        + ("" if settings is None else f"\nshared store {settings.shown} ({_used(settings.writes, wrong)})")
    )
    sys.stdout.write(f"{text}\n")
    return 0


def _used(writes: bool, wrong: str) -> str:
    return f"does not answer: {wrong}" if wrong else f"answers; {'read and written' if writes else 'only read'}"
