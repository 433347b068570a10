"""Command-line options, ini keys and environment variables of the plugin, checked before anything is collected.

An option goes before its environment variable, which goes before its ini key. A bad value is a `pytest.UsageError`
that names its location and the expected form.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec import Struct, field
from retarget.session import TIMEOUTS

from pytest_retarget.internals import Expression

MARKERS = (
    "compile: retarget: the target compiles a module, one per module and compiler config",
    "run: retarget: the target runs a compiled module on a device",
    "suite(name): retarget: the module test suite of the target",
    "compiler(name): retarget: the compiler config that compiles the target's module",
    "backend(name): retarget: a code generator behind that config, such as llvm-cpu or vulkan",
    "runtime(name): retarget: the runtime config that runs the target",
    "driver(name): retarget: the HAL driver of that config",
    "platform(os, arch): retarget: where that config can run",
    "device(name): retarget: a device that the config names",
    "toolchain(name): retarget: a toolchain that the target's configs name",
)
"""The fixed marks. Every tag of a target is a mark as well, registered when the target is collected."""

_CACHE_DIR_VARIABLE = "RETARGET_CACHE_DIR"
_CACHE_SIZE_VARIABLE = "RETARGET_CACHE_SIZE"
_CLUSTER_VARIABLE = "RETARGET_CLUSTER"
_REUSE_VARIABLE = "RETARGET_REUSE_RESULTS"
EXTENSIONS_VARIABLE = "RETARGET_EXTENSIONS"

_OPTIONS = {
    "--retarget-require EXPR …": "make it an error, not a skip, if a target matching this mark expression cannot run "
    "here (repeatable)",
    "--retarget-case GLOB …": "run only the cases with this name or matching this glob (repeatable); run targets that "
    "have none of them are skipped",
    "--retarget-ignore-expectations": "show every target's own outcome, as if no [[expectation]] were declared",
    "--retarget-update-expectations": "make the expectations say what this run shows, in their files; the difference "
    "is printed",
    "--retarget-changed": "run only what can have changed: targets whose artifact, cases, runtime config, device or "
    "driver is another than when they last ran, and those that failed, which come first (--ff); the others are shown "
    "as unchanged",
    "--retarget-reuse-results": "take the result of an earlier run for targets whose artifact, cases, runtime config, "
    f"device and driver are the same; failures run again (also {_REUSE_VARIABLE}=1 and the ini key "
    "retarget_reuse_results)",
    "--retarget-export DIR": "write the artifacts of the selected targets to this folder, for --retarget-artifacts on "
    "another host",
    "--retarget-artifacts DIR": "compile nothing: run the artifacts that --retarget-export wrote to this folder",
    "--retarget-results DIR": "write what happens to each target to a file of its own in this folder, as it happens "
    "(docs/results.md)",
    "--retarget-report SITE": "write a page of what was run to this folder, and of all results in that of "
    "--retarget-results (docs/results.md)",
    "--retarget-repro DIR": "at the end, write bundles that reproduce the smallest failure of each of the ten most "
    "frequent signatures to this folder (docs/repro.md)",
    "--retarget-benchmark": "call what passes again and again, record how long it takes, and hold it against "
    "[[golden]] rules (docs/measurements/benchmarks.md)",
    "--retarget-benchmark-spread PERCENT": "call until the median of a case is known this well: half its 95%% "
    "confidence interval (2 %%)",
    "--retarget-benchmark-time SECONDS": "call the cases of a target for this long at most (2)",
    "--retarget-benchmark-baseline DIR": "hold golden rules against these results (default: earlier sessions in that "
    "of --retarget-results)",
    "--retarget-plan FILE": "run one leg of this plan of `retarget ci plan`, and nothing else",
    "--retarget-leg NAME": "the leg of the plan to run",
    "--retarget-cache-dir DIR": f"keep compiled artifacts here (also {_CACHE_DIR_VARIABLE} and the ini key "
    f"retarget_cache_dir; default: the user's cache folder); {_CACHE_SIZE_VARIABLE} bounds it (4G), "
    "RETARGET_REMOTE_STORE names a store behind it that other machines share (docs/caching.md)",
    "--retarget-no-cache": "compile everything anew, in a folder that is removed at the end, and use no shared store",
    "--retarget-jobs N": "compiles at a time (default: as many as there are cores)",
    "--retarget-cluster ADDRESS": "compile and run on the workers of this scheduler (tcp://HOST:PORT, tls://HOST:PORT);"
    f" '' is none (also {_CLUSTER_VARIABLE} and the ini key retarget_cluster; docs/machines.md)",
    "--retarget-compile-timeout SECONDS": "end a compile after this long, unless its declaration says otherwise "
    f"(default: {TIMEOUTS.compile:.0f})",
    "--retarget-run-timeout SECONDS": "end a run after this long, unless its declaration says otherwise "
    f"(default: {TIMEOUTS.run:.0f})",
    "--retarget-extension MODULE …": "load this module as an extension, besides those installed (repeatable; also "
    f"{EXTENSIONS_VARIABLE})",
    "--retarget-toolchain NAME=PATH …": "take the toolchain NAME from PATH, not from where it is declared (repeatable)",
}
"""What each option does; after its name that of its value, and … if it may be repeated."""

_CONTRADICTIONS = (
    (
        "export",
        "artifacts",
        "one of them: the first writes artifacts where they are compiled, the second runs them elsewhere",
    ),
    ("no-cache", "cache-dir", "one of them"),
    ("repro", "artifacts", "a session that compiles"),
    *(
        (name, other, f"one of them: {why}")
        for name in ("changed", "reuse-results")
        for other, why in (
            ("update-expectations", "expectations are made from what runs"),
            ("no-cache", "results are kept in the cache"),
        )
    ),
    ("update-expectations", "ignore-expectations", "one of them: what is ignored cannot be updated"),
    ("update-expectations", "--runxfail", "one of them: what is ignored cannot be updated"),
    ("update-expectations", "plan", "one of them: a leg is judged by the rules that it was planned with"),
    ("benchmark", "-n", "one of them: what runs at the same time disturbs what is timed"),
    ("benchmark", "cluster", "one of them: a cluster's machines are not timed"),
    ("benchmark", "changed", "one of them: results of earlier runs are not timed"),
    ("benchmark", "reuse-results", "one of them: results of earlier runs are not timed"),
)
"""Pairs of options that cannot be given together, and what is expected."""

_ADDITIONS = (
    ("leg", "plan", "the plan that has the leg, too"),
    *((f"benchmark-{name}", "benchmark", "both") for name in ("spread", "time", "baseline")),
)
"""Options that say more of another one, and what is expected."""


def add_options(parser: pytest.Parser) -> None:
    """Declare options and ini keys."""
    group = parser.getgroup("retarget", "compiler test matrices (retarget)")
    for usage, text in _OPTIONS.items():
        name, *value = usage.split()
        if value:
            group.addoption(name, metavar=value[0], action="append" if value[1:] else "store", help=text)
        elif name == "--retarget-changed":
            group.addoption(name, action=_FailedFirst, nargs=0, default=False, help=text)
        else:
            group.addoption(name, action="store_true", help=text)
    parser.addini("retarget_cache_dir", "keep compiled artifacts here, relative to this file")
    parser.addini("retarget_reuse_results", "take results of earlier runs that still hold", type="bool", default=False)
    parser.addini("retarget_jobs", "compiles at a time")
    parser.addini("retarget_cluster", "compile and run on the workers of this scheduler")
    parser.addini("retarget_compile_timeout", "end a compile after this many seconds")
    parser.addini("retarget_run_timeout", "end a run after this many seconds")
    parser.addini("retarget_extensions", "modules to load as extensions, besides those installed", type="linelist")


class _FailedFirst(argparse.Action):
    """`--retarget-changed`, and pytest's own `--failed-first` with it."""

    def __call__(self, _: object, namespace: argparse.Namespace, *__: object) -> None:
        setattr(namespace, self.dest, True)
        namespace.failedfirst = True


class Settings(Struct, frozen=True, kw_only=True):
    """The user's options.

    Timeouts are in seconds. `jobs` 0 means one compile per core.
    """

    require: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    export: Path | None = None
    artifacts: Path | None = None
    results: Path | None = None
    report: Path | None = None
    repro: Path | None = None
    benchmark: BenchmarkSettings | None = None
    plan: Path | None = None
    leg: str = ""
    no_cache: bool = False
    jobs: int = 0
    cluster: str = ""
    compile_timeout: float = TIMEOUTS.compile
    run_timeout: float = TIMEOUTS.run
    extensions: tuple[str, ...] = ()
    toolchains: Mapping[str, Path | None] = field(default_factory=dict)
    ignore_expectations: bool = False
    update_expectations: bool = False
    changed: bool = False
    reuses: bool = False

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read and check everything. Raises `pytest.UsageError`."""
        _check_together(config)
        export, artifacts = output_folder_of_option(config, "export"), folder_of_option(config, "artifacts")
        if artifacts and not artifacts.is_dir():
            msg = (
                f"--retarget-artifacts: no folder {artifacts}; expected one filled by "
                "`pytest -m compile --retarget-export DIR` on the host that compiles"
            )
            raise pytest.UsageError(msg)
        folder_of_option(config, "cache_dir")  # only to refuse a bad one: `cache_dir` of `session.declared` chooses
        _check_variables()
        return cls(
            require=tuple(map(_requirement, config.getoption("retarget_require") or ())),
            cases=tuple(dict.fromkeys(texts_of_option(config, "case", "the name of a case or a glob over names"))),
            export=export,
            artifacts=artifacts,
            results=output_folder_of_option(config, "results"),
            report=output_folder_of_option(config, "report"),
            repro=output_folder_of_option(config, "repro"),
            benchmark=BenchmarkSettings.of(config),
            plan=path_of_option(config, "plan", "a file that `retarget ci plan` wrote"),
            leg=config.getoption("retarget_leg") or "",
            no_cache=bool(config.getoption("retarget_no_cache")),
            jobs=value_of_option(
                config, "jobs", parse_whole_number, "a whole number of compiles at a time, 1 or more", 0, has_ini=True
            ),
            cluster=_cluster(config),
            compile_timeout=value_of_option(
                config, "compile_timeout", parse_seconds, SECONDS, TIMEOUTS.compile, has_ini=True
            ),
            run_timeout=value_of_option(config, "run_timeout", parse_seconds, SECONDS, TIMEOUTS.run, has_ini=True),
            extensions=tuple(dict.fromkeys(_extensions(config))),
            toolchains=_toolchains(config),
            ignore_expectations=bool(config.getoption("retarget_ignore_expectations"))
            or bool(config.getoption("runxfail", False)),
            update_expectations=bool(config.getoption("retarget_update_expectations")),
            changed=bool(config.getoption("retarget_changed")),
            reuses=_reuses(config),
        )


SETTINGS = pytest.StashKey[Settings]()
"""Where a config keeps its settings."""

NOT_ENTERED = pytest.StashKey[dict[Path, None]]()
"""The folders that pytest does not enter."""

MISNAMED = pytest.StashKey[dict[Path, str]]()
"""Files with declarations that are not read, and the name by which they would be."""

OF_ONE_ID = pytest.StashKey[bool]()
"""Whether the session is of one target that its id names, as ctest starts it: what is installed was checked when the
ids were listed, and the device worker is a fork, which imports nothing again."""


@contextmanager
def usage_errors(before: str = "") -> Generator[None]:
    """Raise what is wrong as pytest's error of usage, behind words that say of what it is."""
    from retarget.support import RetargetError  # a project without matrix files imports nothing but options

    try:
        yield
    except RetargetError as error:
        msg = f"{before}{error}"
        raise pytest.UsageError(msg) from None


def require_package(option: str, package: str, extra: str) -> None:
    """Raise `pytest.UsageError` where the package that an option needs is not installed."""
    if importlib.util.find_spec(package) is None:
        from retarget.support import install_hint  # as above

        msg = f"{option} needs the package {package}, which is not installed; {install_hint(extra)}"
        raise pytest.UsageError(msg)


def _check_together(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` for options that contradict each other, and for those that lack another one."""
    for name, other, expected in _CONTRADICTIONS:
        if config.getoption(_option(name)) and config.getoption(_option(other), None):
            msg = f"{_option(name)} and {_option(other)} were both given; expected {expected}"
            raise pytest.UsageError(msg)
    for name, other, expected in _ADDITIONS:
        given, of = (config.getoption(_option(one)) not in {None, False} for one in (name, other))
        if given and not of:  # an empty text is given: what reads it says that it is wrong
            msg = f"{_option(name)} was given without {_option(other)}; expected {expected}"
            raise pytest.UsageError(msg)


def _reuses(config: pytest.Config) -> bool:
    """Whether results of earlier runs are taken: by an option, or without one where no other forbids it."""
    if config.getoption("retarget_changed") or config.getoption("retarget_reuse_results"):
        return True
    text = os.environ.get(_REUSE_VARIABLE)
    if text and text not in {"0", "1"}:
        msg = f"found {_REUSE_VARIABLE}={text!r}, expected 1 to reuse results of earlier runs, or 0"
        raise pytest.UsageError(msg)
    is_wanted = text == "1" if text else bool(config.getini("retarget_reuse_results"))
    others = ("benchmark", "update_expectations", "no_cache")
    return is_wanted and not any(config.getoption(f"retarget_{other}") for other in others)


def _cluster(config: pytest.Config) -> str:
    """The address of the cluster; empty where there is none."""
    variable = os.environ.get(_CLUSTER_VARIABLE) or None
    given = {"--retarget-cluster": config.getoption("retarget_cluster"), _CLUSTER_VARIABLE: variable}
    given[_ini(config, "cluster")] = config.getini("retarget_cluster") or None
    where, address = next(((where, text) for where, text in given.items() if text is not None), ("", ""))
    if not address:
        return ""
    if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None) or config.getoption("tx", None):
        msg = (
            f"{where} and pytest-xdist's -n were both given; expected one of them: the cluster already works on as "
            "many targets at a time as its workers can, and each process of -n would be a session of its own there; "
            "leave -n out (`-n 0` where the ini file has it)"
        )
        raise pytest.UsageError(msg)
    from retarget.session import ExecutorSession  # imported only with the option

    with usage_errors(f"{where}: "):
        return ExecutorSession.expect_address(address)


def _requirement(text: str) -> str:
    """Return an expression. Raises `pytest.UsageError` for what is none."""
    try:
        Expression.compile(text)
    except SyntaxError as error:
        msg = f"--retarget-require: {text!r}: at column {error.offset}: {error.msg}; expected an expression as -m takes"
        raise pytest.UsageError(msg) from None
    return text


def _check_variables() -> None:
    """Raise `pytest.UsageError` for a size of the cache or a shared store that the environment names wrong."""
    if os.environ.get(_CACHE_SIZE_VARIABLE):
        from retarget.session import Store  # imported only if it is set

        with usage_errors():
            Store.default_max_bytes()
    if any(name.startswith("RETARGET_REMOTE_STORE") for name in os.environ):
        from retarget.session import RemoteStore  # as above

        with usage_errors():
            RemoteStore.configured()


def _toolchains(config: pytest.Config) -> Mapping[str, Path | None]:
    texts = config.getoption("retarget_toolchain")
    if not texts:
        return {}
    from retarget.session import redirections  # imported only with the option

    with usage_errors():
        return redirections(texts, config.invocation_params.dir)


def _extensions(config: pytest.Config) -> Iterable[str]:
    yield from texts_of_option(config, "extension", "the name of a module")
    yield from (name for name in os.environ.get(EXTENSIONS_VARIABLE, "").split(os.pathsep) if name)
    yield from config.getini("retarget_extensions")


_SPREAD, _MOST_SECONDS = 0.02, 2.0


class BenchmarkSettings(Struct, frozen=True, kw_only=True):
    """How well medians are to be known, as a share; seconds for a target at most; the results that golden rules are
    held against, None for earlier sessions in the folder of `--retarget-results`."""

    spread: float = _SPREAD
    seconds: float = _MOST_SECONDS
    baseline: Path | None = None

    @classmethod
    def of(cls, config: pytest.Config) -> BenchmarkSettings | None:
        """Return None where nothing is timed. Raises `pytest.UsageError`."""
        if not config.getoption("retarget_benchmark"):
            return None
        return cls(
            spread=value_of_option(config, "benchmark_spread", _percent, "a percentage, such as '2 %'", _SPREAD),
            seconds=value_of_option(config, "benchmark_time", parse_seconds, SECONDS, _MOST_SECONDS),
            baseline=_baseline(config),
        )


def _baseline(config: pytest.Config) -> Path | None:
    path = path_of_option(config, "benchmark_baseline", "a folder or file of results")
    if path is not None and not os.path.exists(path):  # noqa: PTH110  (Path.exists raises OSError for a long name)
        msg = (
            f"--retarget-benchmark-baseline: found no file or folder {path}; expected results that "
            "`pytest --retarget-benchmark --retarget-results DIR` wrote"
        )
        raise pytest.UsageError(msg)
    return path


def _percent(text: str) -> float:
    from retarget.model import parse_percent  # a project without matrix files must not import the model

    return parse_percent(text)


T = TypeVar("T")

SECONDS = "a number of seconds above 0, such as 90 or 0.5"
"""The form that `parse_seconds` takes."""

_LONGEST_TEXT = 1000
"""Characters of a glob or a name; globs in files are bounded, too."""


def _option(name: str) -> str:
    return name if name.startswith("-") else "--retarget-" + name.replace("_", "-")


def value_of_option(
    config: pytest.Config, name: str, parse: Callable[[str], T], form: str, default: T, *, has_ini: bool = False
) -> T:
    """Return what an option says; or else its ini key, where it has one."""
    given = {_option(name): config.getoption(f"retarget_{name}")}
    if has_ini:
        given[_ini(config, name)] = config.getini(f"retarget_{name}") or None
    for where, text in given.items():
        if text is not None:
            try:
                return parse(text)
            except ValueError:
                msg = f"{where}: found {text!r}, expected {form}"
                raise pytest.UsageError(msg) from None
    return default


def _ini(config: pytest.Config, name: str) -> str:
    return f"retarget_{name} in {config.inipath or 'the ini file'}"


def parse_whole_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse_seconds(text: str) -> float:
    number = float(text)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError
    return number


def texts_of_option(config: pytest.Config, name: str, form: str) -> list[str]:
    """The texts of an option that may be repeated."""
    texts: list[str] = config.getoption(f"retarget_{name}") or []
    if not all(text.strip() for text in texts):
        msg = f"{_option(name)}: found an empty text, expected {form}"
        raise pytest.UsageError(msg)
    if longest := max((len(text) for text in texts if len(text) > _LONGEST_TEXT), default=0):
        msg = f"{_option(name)}: found {longest} characters, expected {form} of at most {_LONGEST_TEXT}"
        raise pytest.UsageError(msg)
    return texts


def folder_of_option(config: pytest.Config, name: str) -> Path | None:
    folder = path_of_option(config, name, "a folder")
    if folder is not None and os.path.exists(folder) and not folder.is_dir():  # noqa: PTH110  (of any length)
        msg = f"{_option(name)}: {folder} is a file, expected a folder"
        raise pytest.UsageError(msg)
    return folder


def output_folder_of_option(config: pytest.Config, name: str) -> Path | None:
    """The folder of an option that the session writes to: one that can be made and written to now."""
    folder = folder_of_option(config, name)
    if folder is None:
        return None
    there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        what = "cannot be written to" if there.is_dir() else "is no folder"
        msg = f"{_option(name)}: found {folder}, expected a folder that can be written; {there} {what}"
        raise pytest.UsageError(msg)
    return folder


def path_of_option(config: pytest.Config, name: str, expected: str) -> Path | None:
    text = config.getoption(f"retarget_{name}")
    if text is None:
        return None
    if not text:
        msg = f"{_option(name)}: found an empty text, expected {expected}"
        raise pytest.UsageError(msg)
    from retarget.support import user_path  # a project without matrix files imports nothing but options

    base = config.invocation_params.dir
    return Path(os.path.abspath(base / user_path(text)))  # noqa: PTH100  (a symbolic link stays as it is)
