"""`retarget fuzz`: programs that nobody wrote, run on the selected configs until the time is up."""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from retarget.cli import (
    add_path_arguments,
    add_toolchain_argument,
    output_folder,
    print_note,
    read_declared,
    text_table,
    whole_number,
)
from retarget.session import TIMEOUTS, Engine
from retarget.support import RetargetError, ScratchFolder, counted, display_path, install_hint, listed

from retarget_fuzz.corpus import Corpus
from retarget_fuzz.found import TABLE, Finding, Findings, why_unseen
from retarget_fuzz.programs.program import DEFAULT_TYPES, DIALECTS, ELEMENT_TYPES
from retarget_fuzz.search import Search, Watcher
from retarget_fuzz.targets import COUNTED, Config, Failed, Runner, configs_of

if TYPE_CHECKING:
    from retarget_fuzz.programs.program import Program

_DEFAULT_SECONDS = 600.0
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_COMPILE_SECONDS, _RUN_SECONDS = 120.0, 60.0
"""How long a program may take before it hangs: most take a tenth of a second."""
_TICK = 0.5
"""Seconds between two lines on a terminal."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget fuzz`."""
    add_path_arguments(parser, expressions=True)
    add_toolchain_argument(parser)
    parser.add_argument(
        "--for",
        dest="seconds",
        type=_duration,
        metavar="TIME",
        help="how long: 90s, 10m or 1h (10m, without an end with --most)",
    )
    parser.add_argument("--most", type=whole_number, metavar="N", help="how many programs")
    parser.add_argument(
        "-o",
        dest="output",
        type=output_folder,
        metavar="DIR",
        help="the folder for findings, made if need be (found in the first PATH)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="make the programs of an earlier run, which says its seed (a new one)",
    )
    parser.add_argument(
        "--corpus", type=output_folder, metavar="DIR", help="keep programs there that pass and cover something new"
    )
    for option, what, known, default in (
        ("--dialect", "of programs", DIALECTS, DIALECTS),
        ("--type", "of elements", ELEMENT_TYPES, DEFAULT_TYPES),
    ):
        words = f"{what}, of {', '.join(known)} ({' '.join(default)}); may be repeated"
        parser.add_argument(option, action="append", choices=known, default=[], metavar="NAME", help=words)


def run(arguments: argparse.Namespace) -> int:
    """Search, and return 1 if something new was found. Raises `argparse.ArgumentError` and `RetargetError`."""
    if importlib.util.find_spec("hypothesis") is None:
        msg = f"programs are made by the package hypothesis, which is not installed; {install_hint('fuzz')}"
        raise RetargetError(msg)
    selection = read_declared(arguments, arguments.path)
    configs = configs_of(selection)
    if not configs:
        msg = f"found no run target in {', '.join(arguments.path)} that is selected; `retarget list` shows all"
        raise argparse.ArgumentError(None, msg)
    first = Path(arguments.path[0].partition("::")[0])
    output = arguments.output or (first if first.is_dir() else first.parent) / "found"
    findings = Findings.read(output, {one.suite.name for one in selection.suites})
    corpus = None if arguments.corpus is None else Corpus.read(arguments.corpus)
    seed = arguments.seed or random.SystemRandom().randint(1, 100_000)
    with ScratchFolder("fuzz") as scratch:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(scratch.path / "hypothesis"))
        with Engine(
            registry=selection.registry,
            cache=scratch.path / "cache",
            extensions=selection.extensions,
            shared=False,
            timeouts=replace(TIMEOUTS, compile=_COMPILE_SECONDS, run=_RUN_SECONDS),
            note=print_note,
        ) as engine:
            folders = [findings.folder] if corpus is None else [findings.folder, corpus.folder]
            usable, others = _usable(engine, configs, folders)
            lines = [f"left out: {listed(names)}: {why}" for why, names in others.items()]
            if not usable:
                raise RetargetError("\n".join(["no selected config can be used", *lines]))
            sys.stderr.writelines(f"{line}\n" for line in lines)
            runner = Runner(engine, usable, scratch.path / "programs")
            return _search(arguments, runner, findings, corpus, seed)


def _search(arguments: argparse.Namespace, runner: Runner, findings: Findings, corpus: Corpus | None, seed: int) -> int:
    from retarget_fuzz.programs.strategies import programs  # imports Hypothesis

    seconds = arguments.seconds or (None if arguments.most else _DEFAULT_SECONDS)
    strategy = programs(tuple(arguments.dialect) or DIALECTS, tuple(arguments.type) or DEFAULT_TYPES)
    search = Search(runner, strategy, findings, seed=seed, seconds=seconds, most=arguments.most)
    report = _Report(arguments, runner, search, findings, corpus)
    print_note(f"on {', '.join(config.name for config in runner.configs)}; --seed {seed}")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        search.run(report)
    finally:  # of Ctrl-C, too
        signal.signal(signal.SIGTERM, before)
        report.erase()
        if findings.all:
            findings.write()
        sys.stdout.write("".join(f"{line}\n" for line in report.summary()))
    return 1 if findings.new or runner.inconclusive else 0


def _usable(
    engine: Engine, configs: Sequence[Config], folders: Sequence[Path]
) -> tuple[Sequence[Config], Mapping[str, Sequence[str]]]:
    """Return the configs that suites in all folders see and this machine can run, and the others by why not. Raises
    `RetargetError`."""
    usable: list[Config] = []
    others: dict[str, list[str]] = {}
    for config in configs:
        why = next(filter(None, (why_unseen(folder, config) for folder in folders)), "") or config.why_not(engine)
        if why:
            others.setdefault(why, []).append(config.name)
        else:
            usable.append(config)
    return usable, others


class _Report(Watcher):
    """Shows how far a search is, and does with what it finds what the user asked for."""

    def __init__(
        self, arguments: argparse.Namespace, runner: Runner, search: Search, findings: Findings, corpus: Corpus | None
    ) -> None:
        self._arguments = arguments
        self._runner, self._search = runner, search
        self._findings, self._corpus = findings, corpus
        self._kept = 0
        self._started = time.monotonic()
        self._shown = 0.0
        is_log = os.environ.get("TERM", "dumb") == "dumb" or "CI" in os.environ
        self._is_terminal = sys.stderr.isatty() and not is_log

    def progress(self, doing: str) -> None:
        """Show a line on a terminal."""
        now = time.monotonic()
        if self._is_terminal and now - self._shown > _TICK:
            self._shown = now
            width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
            text = "; ".join(filter(None, (self._rate(), counted(len(self._findings.new), "finding"), doing)))
            sys.stderr.write(f"\r{text[:width]}\033[K")
            sys.stderr.flush()

    def erase(self) -> None:
        """Show no line any more."""
        if self._is_terminal and self._shown:
            sys.stderr.write("\r\033[K")

    def found(self, finding: Finding, failed: Failed) -> None:
        """Say what was found, and pack it."""
        self.erase()
        folder = self._findings.folder / finding.name
        sys.stdout.write(f"{display_path(folder)}: {finding.title} ({', '.join(finding.configs)})\n")
        sys.stdout.flush()
        self.progress(f"packing {finding.name}")
        finding.bundle = _bundle(folder, finding, failed, self._arguments)

    def passed(self, program: Program) -> None:
        """Keep a program in the corpus if it covers something new."""
        if self._corpus is not None:
            dispatches = self._runner.statistics(program)
            self._kept += self._corpus.consider(program, dispatches, self._runner.configs)

    def summary(self) -> Iterator[str]:
        """Yield the lines at the end."""
        counts, search = self._runner.counts, self._search
        rows = [[one.name, *(str(counts[one.name, what]) for what in COUNTED)] for one in self._runner.configs]
        yield text_table(("config", *COUNTED), rows)
        yield from (f"no verdict on {name}: {why}" for name, why in self._runner.inconclusive.items())
        yield f"{self._rate()}; {search.reductions} more to reduce what failed"
        if self._corpus is not None:
            yield f"corpus {display_path(self._corpus.folder)}: {self._kept} kept, {len(self._corpus.entries)} in all"
        known = len(self._findings.known)
        more = f", {counted(known, 'finding')} of earlier runs" if known else ""
        where = f": {display_path(self._findings.folder / TABLE)}" if self._findings.all else ""
        yield f"{counted(len(self._findings.new), 'new finding')}{more}{where}"

    def _rate(self) -> str:
        programs, seconds = self._search.programs, time.monotonic() - self._started
        return f"{counted(programs, 'program')} in {seconds:.0f} s, {programs / max(seconds, 0.001):.1f} a second"


def _bundle(folder: Path, finding: Finding, failed: Failed, arguments: argparse.Namespace) -> str:
    """Have `retarget repro` write the bundle of what was found; return what it says."""
    target = f"module_{failed.config.compiler}"
    if not failed.at_compile:
        target += f"_{failed.config.runtime.name}"
    command = [sys.executable, "-m", "retarget.cli", "repro", f"{folder}/suite.toml::{finding.name}::{target}"]
    command += ["-o", f"{folder}/bundle.tar.zst"]
    command += [f"--retarget-extension={name}" for name in arguments.retarget_extension]
    command += [f"--retarget-toolchain={text}" for text in arguments.retarget_toolchain]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return (done.stdout.splitlines() or ["made"])[-1]
    said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return f"none: {next((line.strip() for line in said if line.startswith('  found: ')), said[-1])}"


# ---------------------------------------------------------------- arguments


def _duration(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if match and (seconds := float(match[1]) * _UNITS[match[2]]) > 0:
        return seconds
    msg = f"found {text!r}, expected a time such as 90s, 10m or 1h"
    raise argparse.ArgumentTypeError(msg)
