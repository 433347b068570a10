"""The subcommand `bisect`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from retarget.cli.support import whole_number
from retarget.engine.cache.folder import cache_of_command
from retarget.extension import HasReleases, UsesToolchains
from retarget.model import RunTarget
from retarget.support.errors import RetargetError, did_you_mean

from retarget_repro.attempt import Chosen, add_target_arguments, chosen_target
from retarget_repro.bisect.releases import RELEASES_FOLDER, Releases
from retarget_repro.bisect.trying import Bisection, Result, boundary

__all__ = ["add_arguments", "run"]

_PARTS = ("compiler", "runtime")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget bisect`."""
    add_target_arguments(parser)
    parser.add_argument("--good", required=True, metavar="VERSION", help="a release with which the target passes")
    parser.add_argument(
        "--bad", metavar="VERSION", help="a release with which it fails, newer or older than --good (the newest)"
    )
    parser.add_argument(
        "--only",
        choices=_PARTS,
        help="take releases of the compiler or of the runtime alone; the other stays what it is (both move together)",
    )
    parser.add_argument("--pre", action="store_true", help="try versions that are no releases yet, too")
    parser.add_argument(
        "--runs", type=whole_number, default=1, metavar="N", help="a version is good if the target passes N times (1)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find the first version that fails as `--bad` does. Return 0 if it was found, 1 if only a range was.

    Raises `argparse.ArgumentError` for a target or a version that is not there, `RetargetError` where the good version
    is not good or the bad one not bad.
    """
    chosen = chosen_target(arguments)
    parts = _parts(chosen, arguments.only)
    releases = Releases(
        packages=tuple(dict.fromkeys(package for packages in parts.values() for package in packages)),
        folder=cache_of_command().folder / RELEASES_FOLDER,
        note=_note,
    )
    known = releases.versions(pre=arguments.pre)
    versions = _between(known, arguments.good, known[-1] if arguments.bad is None else arguments.bad)
    bisection = Bisection(arguments=arguments, chosen=chosen, parts=parts, releases=releases)
    moved = " and ".join(f"{' and '.join(packages)} ({part})" for part, packages in parts.items())
    bisection.say(f"{chosen.id}\n{len(versions)} releases of {moved} from {versions[0]} to {versions[-1]}")
    bisection.verify(versions[0], versions[-1])
    good, bad = boundary(versions, bisection.judge)
    result = Result(
        target=chosen.id,
        parts=parts,
        is_newer=known.index(versions[0]) < known.index(versions[-1]),
        good=bisection.tried[versions[good]],
        bad=bisection.tried[versions[bad]],
        unknown=tuple(bisection.tried[version] for version in versions[good + 1 : bad]),
        tried=tuple(bisection.tried.values()),
    )
    if arguments.json:
        sys.stdout.write(json.dumps(result.json(), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(result.text()) + "\n")
    return 1 if result.unknown else 0


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _parts(chosen: Chosen, only: str | None) -> dict[str, tuple[str, ...]]:
    """Return what of a target's toolchain has releases, `compiler` or `runtime`, with their packages.

    Raises `RetargetError` where nothing has.
    """
    registry, config = chosen.registry, chosen.compiled.compiler
    products: dict[str, tuple[str, object]] = {
        "compiler": (f"compiler {config.compiler!r}", registry.compiler(config.compiler))
    }
    if isinstance(chosen.target, RunTarget):
        driver = chosen.target.runtime.driver
        products["runtime"] = (f"driver {driver!r}", registry.driver(driver))
    wanted = {part: product for part, product in products.items() if only in {None, part}}
    parts = {
        part: tuple(product.release_packages())
        for part, (_, product) in wanted.items()
        if isinstance(product, HasReleases) and isinstance(product, UsesToolchains)
    }
    if not parts:
        what = " and the ".join(name for name, _ in wanted.values()) or f"compile target {chosen.target.name!r}"
        msg = f"the {what} has no releases to try; expected one that names their packages (HasReleases) and uses them"
        raise RetargetError(msg)
    return parts


def _between(known: Sequence[str], good: str, bad: str) -> tuple[str, ...]:
    """Return the versions from a good one to a bad one, which may be older. Raises `argparse.ArgumentError`."""
    for option, version in (("--good", good), ("--bad", bad)):
        if version not in known:
            hint = did_you_mean(version, known) or ""
            msg = f"{option}: found {version!r}, expected a release{hint}; there are {', '.join(known)}"
            raise argparse.ArgumentError(None, msg)
    first, last = known.index(good), known.index(bad)
    if first == last:
        msg = f"found {good} for --good and for --bad, expected two versions"
        raise argparse.ArgumentError(None, msg)
    return tuple(known[first : last + 1] if first < last else reversed(known[last : first + 1]))
