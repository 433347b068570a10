"""The tests that `retarget emit ctest` makes of targets, and what it asks of this machine. The engine is a double."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo, Host
from retarget.support import RetargetError
from retarget_ctest import emit

SETTINGS: Any = SimpleNamespace(compile_timeout=100, run_timeout=10)


class Engine:
    """Says which devices there are."""

    def __init__(self, devices: Sequence[DeviceInfo] | Exception = ()) -> None:
        self._devices = devices
        self.asked: list[str] = []

    def devices(self, runtime: Any) -> Sequence[DeviceInfo]:
        self.asked.append(runtime.name)
        if isinstance(self._devices, Exception):
            raise self._devices
        return self._devices


def device(name: str, *, exclusive: bool = True) -> DeviceInfo:
    return DeviceInfo(driver="d", uri=name, ordinal=0, name=name, physical_id=name, exclusive=exclusive)


def made(target: Any, retries: dict[str, int] | None = None, selected: Sequence[str] = ("m_c", "m_c_r")) -> emit._Test:
    engine: Any = Engine([device("gpu")])
    return emit._test(
        target,
        prefix="s.toml::s::",
        selected=selected,
        locks=emit._Locks(engine),
        selection=SETTINGS,
        retries=retries or {},
        command=["python", "-m"],
    )


def test_a_compile_provides_what_its_run_requires_and_a_run_locks_its_device() -> None:
    compiled = replace(compile_target(), tags=("a", "b", "a"))
    first, second = made(compiled), made(run_target(compiled, tags=("run",)))
    assert first == emit._Test(
        name="s.toml::s::m_c",
        command=("python", "-m", "s.toml::s::m_c"),
        labels=("a", "b"),
        timeout=160.0,
        provides="s.toml::s::m_c",
    )
    assert second == emit._Test(
        name="s.toml::s::m_c_r",
        command=("python", "-m", "s.toml::s::m_c_r"),
        labels=("run",),
        timeout=170.0,
        requires="s.toml::s::m_c",
        locks=("retarget:gpu",),
    )


def test_targets_have_their_own_limits_and_time_for_further_attempts() -> None:
    compiled = replace(compile_target(), timeout=20.0)
    target = replace(run_target(compiled), timeout=5.0)
    assert (made(compiled).timeout, made(target).timeout) == (80.0, 85.0)
    assert made(target, {"m_c_r": 2}).timeout == 3 * 85.0
    assert made(target, {"m_c": 1}).timeout == 2 * 85.0
    assert made(compiled, {"m_c_r": 2}).timeout == 80.0


# ---------------------------------------------------------------- the machine


@pytest.mark.parametrize(
    ("devices", "runtime", "locks"),
    [
        ([device("a"), device("b"), device("a")], {}, ("retarget:a", "retarget:b")),
        ([device("a", exclusive=False)], {}, ()),
        ([device("a", exclusive=False)], {"concurrency": 1}, ("retarget:a",)),
        ([device("a")], {"concurrency": 2}, ()),
        (UnavailableError("none"), {"devices": ("local-sync://x",)}, ("retarget:local-sync://x",)),
        (RetargetError("bad"), {}, ("retarget:local-sync",)),
        (UnavailableError("none"), {"host": Host(name="pi-", kind="ssh", origin=ORIGIN)}, ("retarget:pi-local-sync",)),
    ],
)
def test_a_device_is_locked_where_runs_do_not_share_it(devices: Any, runtime: dict[str, Any], locks: Any) -> None:
    engine: Any = Engine(devices)
    found = emit._Locks(engine)
    config = replace(run_target(compile_target()).runtime, **runtime)
    assert (found.of(config), found.of(config)) == (locks, locks)
    assert engine.asked == ["r"]


# ---------------------------------------------------------------- words


def test_properties_that_are_empty_are_left_out() -> None:
    test = emit._Test(name="n", command=("a", "b c"), labels=(), timeout=1.4, locks=("x", "y"))
    assert emit._ctest_file([test, test], Path("/root")).splitlines()[2:9] == [
        "add_test([=[n]=] [=[a]=] [=[b c]=])",
        "set_tests_properties([=[n]=] PROPERTIES",
        "  WORKING_DIRECTORY [=[/root]=]",
        "  TIMEOUT [=[1]=]",
        "  SKIP_RETURN_CODE [=[77]=]",
        "  RESOURCE_LOCK [=[x;y]=]",
        ")",
    ]


@pytest.mark.parametrize(
    ("text", "absolute"), [("a=PATH", "a=PATH"), ("a=/b", "a=/b"), ("a=b", "a={here}/b"), ("a=~/b", "a={home}/b")]
)
def test_a_toolchains_folder_holds_in_any_folder(
    text: str, absolute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/somewhere")
    assert emit._absolute(text) == absolute.format(here=tmp_path, home="/somewhere")


def test_the_check_of_all_declarations_takes_the_paths_and_extensions_that_were_given(tmp_path: Path) -> None:
    arguments: Any = SimpleNamespace(
        retarget_extension=["e"],
        ignore=[tmp_path / "old"],
        path=[str(tmp_path), str(tmp_path / "a")],
        output=tmp_path / "out",
        mark="",
        keyword="k",
        retarget_toolchain=["t=/t"],
    )
    test = emit._check(tmp_path, arguments)
    selecting = ("-k=k", "--retarget-toolchain=t=/t", "--retarget-extension=e", "--ignore=old")
    assert test.command[1:] == ("-m", "retarget.cli", "emit", "ctest", "--check", "-o", "out", *selecting, ".", "a")
    assert (test.name, test.labels, test.timeout) == ("retarget check", ("check",), 600.0)


def test_a_file_that_cannot_be_read_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "CTestTestfile.cmake"
    emit._expect_ours(file)
    file.write_text("# CMake\n")

    def unreadable(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(RetargetError, match="was not written by `retarget emit ctest`"):
        emit._expect_ours(file)
    monkeypatch.setattr(Path, "read_bytes", unreadable)
    with pytest.raises(RetargetError, match=r"^cannot read .*CTestTestfile.cmake: Permission denied$"):
        emit._expect_ours(file)
