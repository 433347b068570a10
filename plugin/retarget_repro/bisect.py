"""`retarget bisect`: tries versions of a toolchain between a good and a bad one, and words what came of
them. Released versions are installed with pip into folders of the cache.

Layout of the folder `releases` of the cache::

    iree-base-compiler+iree-base-runtime-3.12.0-cpython-311-linux-x86_64/        what pip installed, complete
    .iree-….lock                                                                 held during installation
    .new-iree-…/                                                                 while it is installed
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from retarget.cli import print_note, whole_number
from retarget.extension import Compiler, Driver, UnavailableError
from retarget.model import Origin, RunTarget, Toolchain
from retarget.session import CacheChoice, Commands, Engine
from retarget.support import RetargetError, did_you_mean, error_line, first_line, make_folder

from retarget_repro.attempt import Attempt, Chosen, add_target_arguments, attempt, by_hand, chosen_target

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


def run(arguments: argparse.Namespace) -> int:
    """Find the first version that fails as `--bad` does. Return 0 if it was found, 1 if only a range was.

    Raises `argparse.ArgumentError` for a target or a version that is not there, `RetargetError` where the good version
    is not good or the bad one not bad.
    """
    chosen = chosen_target(arguments)
    parts = _parts(chosen, arguments.only)
    releases = Releases(
        packages=tuple(dict.fromkeys(package for packages in parts.values() for package in packages)),
        folder=CacheChoice.of_command().folder / RELEASES_FOLDER,
        note=print_note,
    )
    known = releases.versions(pre=arguments.pre)
    versions = _between(known, arguments.good, known[-1] if arguments.bad is None else arguments.bad)
    bisection = Bisection(arguments=arguments, chosen=chosen, parts=parts, releases=releases)
    moved = " and ".join(f"{' and '.join(packages)} ({part})" for part, packages in parts.items())
    _print(f"{chosen.id}\n{len(versions)} releases of {moved} from {versions[0]} to {versions[-1]}")
    bisection.verify(versions[0], versions[-1])
    last, first = boundary(versions, bisection.judge)
    good, bad = bisection.tried[versions[last]], bisection.tried[versions[first]]
    unknown = [bisection.tried[version] for version in versions[last + 1 : first]]
    is_newer = known.index(versions[0]) < known.index(versions[-1])
    _print("\n".join(_text(good, bad, unknown, is_newer=is_newer)))
    return 1 if unknown else 0


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _parts(chosen: Chosen, only: str | None) -> dict[str, tuple[str, ...]]:
    """Return what of a target's toolchain has releases, `compiler` or `runtime`, with their packages.

    Raises `RetargetError` where nothing has.
    """
    registry, config = chosen.registry, chosen.compiled.compiler
    products: dict[str, tuple[str, Compiler | Driver]] = {
        "compiler": (f"compiler {config.compiler!r}", registry.compiler(config.compiler))
    }
    if isinstance(chosen.target, RunTarget):
        driver = chosen.target.runtime.driver
        products["runtime"] = (f"driver {driver!r}", registry.driver(driver))
    wanted = {part: product for part, product in products.items() if only in {None, part}}
    parts = {
        part: tuple(product.release_packages())
        for part, (_, product) in wanted.items()
        if product.release_packages() and product.overrides("toolchain_environment")
    }
    if not parts:
        what = " and the ".join(name for name, _ in wanted.values()) or f"compile target {chosen.target.name!r}"
        msg = f"the {what} has no releases to try; expected one with `release_packages` that uses toolchains"
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


# ---------------------------------------------------------------- versions that are tried


class Verdict(StrEnum):
    """What is known of a version."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be told: it does not install, or the target fails in another way."""


def boundary(versions: Sequence[str], judge: Callable[[str], Verdict]) -> tuple[int, int]:
    """Return the indices of the last good version and of the next one that is known to be bad.

    `versions` begin with one that is good and end with one that is bad; neither is judged again. All between the two
    that are returned were judged, and of none of them can it be told. As `git bisect`, it goes to the nearest other
    version where it cannot tell.
    """
    good, bad = 0, len(versions) - 1
    skipped: set[int] = set()
    while left := [index for index in range(good + 1, bad) if index not in skipped]:
        at = min(left, key=lambda index: abs(2 * index - good - bad))
        match judge(versions[at]):
            case Verdict.GOOD:
                good = at
            case Verdict.BAD:
                bad = at
            case Verdict.SKIP:
                skipped.add(at)
    return good, bad


class Tried(Struct, frozen=True, kw_only=True):
    """A version, what the target did with it, and what that says. `commands` do it by hand where it failed."""

    version: str
    verdict: Verdict
    attempt: Attempt
    commands: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.version}  {self.verdict:<4}  {self.attempt}"


class Bisection(Struct, kw_only=True):
    """Tries versions, and prints a line for each. What fails as the first one that failed is bad.

    `parts` are those of the toolchain that are replaced: `compiler`, `runtime`.
    """

    arguments: argparse.Namespace
    chosen: Chosen
    parts: Mapping[str, Sequence[str]]
    releases: Releases
    tried: dict[str, Tried] = field(default_factory=dict)
    bad: Attempt | None = None

    def verify(self, good: str, bad: str) -> None:
        """See that the bad version is bad and the good one good. Raises `RetargetError`."""
        if self.judge(bad) is not Verdict.BAD:
            msg = f"--bad: with {bad} the target {_does(self.tried[bad])}; expected a version with which it fails"
            raise RetargetError(msg)
        if self.judge(good) is not Verdict.GOOD:
            same = " as with the bad one" if self.tried[good].verdict is Verdict.BAD else ""
            found = f"with {good} the target {_does(self.tried[good])}{same}"
            msg = f"--good: {found}; expected a version with which it passes"
            raise RetargetError(msg)

    def judge(self, version: str) -> Verdict:
        """Try a version, print its line, and return what it is."""
        tried = self.tried[version] = self._tried(version)
        _print(str(tried))
        return tried.verdict

    def _tried(self, version: str) -> Tried:
        try:
            folder = self.releases.installed(version)
        except UnavailableError as error:
            return Tried(version=version, verdict=Verdict.SKIP, attempt=Attempt(unavailable=str(error)))
        toolchain = Toolchain(name=version, path=folder, origin=Origin(file=folder, key_path=""))
        own, move = self.chosen.target, partial(self.chosen.registry.with_toolchain, toolchain=toolchain)
        others = [move(one, parts=self.parts, like=own) for one in self.chosen.others]
        chosen = replace(self.chosen, target=move(own, parts=self.parts), others=others)
        extensions = self.arguments.retarget_extension
        with Engine(registry=chosen.registry, extensions=extensions, cases=self.arguments.case, note=_print) as engine:
            found = attempt(engine, chosen)
            for _ in range(1, self.arguments.runs if isinstance(chosen.target, RunTarget) else 1):
                found = attempt(engine, chosen) if found.passed else found
            commands = () if found.observation is None else by_hand(engine, chosen, found, extensions)
        if found.passed:
            verdict = Verdict.GOOD
        elif found.observation is None or (self.bad is not None and not found.same(self.bad)):
            verdict = Verdict.SKIP
        else:
            verdict, self.bad = Verdict.BAD, self.bad or found
        return Tried(version=version, verdict=verdict, attempt=found, commands=commands)


def _does(tried: Tried) -> str:
    attempt = tried.attempt
    return "passes" if attempt.passed else f"fails ({attempt})" if attempt.failure else f"cannot be tried ({attempt})"


def _text(good: Tried, bad: Tried, unknown: Sequence[Tried], *, is_newer: bool) -> Iterator[str]:
    """Yield the lines below those of the versions: the last good one and the next one that is bad, which `is_newer` or
    older; of the `unknown` ones between it cannot be told."""
    word, first, other = ("bad", bad, good) if is_newer else ("good", good, bad)
    if unknown:
        between = unknown if is_newer else unknown[::-1]
        which = " or ".join(one.version for one in (*between, first))
        yield f"the first {word} version is {which}: of the others it cannot be told"
    else:
        yield f"the first {word} version is {first.version}"
    for one in (other, first):
        yield f"  {one.version}: {one.attempt}"
        yield from (f"    {build}" for build in one.attempt.builds)
    yield Commands.heading
    yield from (f"  {line}" for line in bad.commands)


RELEASES_FOLDER = "releases"
"""The folder of the cache in which they lie."""

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
_AVAILABLE = re.compile(r"(?m)^Available versions: (.+)$")


class Releases(Struct, frozen=True, kw_only=True):
    """The releases that consist of these packages. They are kept below `folder`; `note` takes a line on what takes
    long."""

    packages: tuple[str, ...]
    folder: Path
    note: Callable[[str], None]

    def versions(self, *, pre: bool = False) -> tuple[str, ...]:
        """Return the versions that all packages have for this Python and machine, oldest first.

        Raises `RetargetError` where the index does not tell.
        """
        found = [self._versions(package, pre=pre) for package in self.packages]
        common = tuple(version for version in found[0] if all(version in other for other in found))
        if not common:
            msg = f"{' and '.join(self.packages)} have no version in common; expected --only with one of the two"
            raise RetargetError(msg)
        return common

    def _versions(self, package: str, *, pre: bool) -> tuple[str, ...]:
        done = _pip("index", "versions", package, *(["--pre"] if pre else []))
        listed = _AVAILABLE.search(done.stdout)
        if done.returncode or listed is None:
            msg = (
                f"pip names no versions of {package}: {_why(done)}; expected an index that has it, "
                f"as in `{shlex.join(('python3', '-m', 'pip', 'index', 'versions', package))}`"
            )
            raise RetargetError(msg)
        return tuple(reversed(listed[1].split(", ")))

    def installed(self, version: str) -> Path:
        """Return the folder of a release, which is installed if it is not there.

        Raises `UnavailableError` where it cannot be installed, `RetargetError` for a cache that cannot be used.
        """
        folder = self.path(version)
        try:
            if not folder.is_dir():
                make_folder(folder, partial(self._install, version))
        except OSError as error:
            msg = f"releases cannot be kept in {self.folder}: {error.strerror or error}"
            raise RetargetError(msg) from error
        return folder

    def path(self, version: str) -> Path:
        """Return where a release is, or will be."""
        name = f"{'+'.join(self.packages)}-{version}-{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
        return self.folder / name

    def _install(self, version: str, folder: Path) -> None:
        self.note(f"installing {version}")
        wanted = [f"{package}=={version}" for package in self.packages]
        words = ("install", "--no-deps", "--only-binary", ":all:", "--no-compile", "--target", str(folder), *wanted)
        done = _pip(*words, "--quiet")
        if done.returncode:
            msg = f"does not install: {_why(done)}"
            raise UnavailableError(msg)


def _pip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*_PIP, *words], capture_output=True, text=True, errors="replace", check=False)


def _why(done: subprocess.CompletedProcess[str]) -> str:
    return error_line(done.stderr).removeprefix("ERROR: ") or first_line(done.stderr, f"exit status {done.returncode}")
