"""Errors, checks of drivers, and declarations with their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_targets import compile_target
from msgspec.structs import replace
from retarget.model import Origin, RuntimeConfig
from retarget.model.calls import CompilerError, DriverError, Tolerance, UnavailableError
from retarget.model.driver_checks import CheckState, DriverCheckOutcome
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import Rung, Stage
from retarget.support.toml import Problem

TEXT = """\
[[module_test_suite]]
name = "a"
  [[ "module_test_suite" ]]
name = "b"
srcs = ["x"]
"""


def test_errors_say_nothing_that_was_not_given() -> None:
    plain = CompilerError("no such op")
    assert (str(plain), plain.diagnostics, plain.verdict, plain.in_front_half) == ("no such op", "", False, False)
    full = CompilerError("s", "d", verdict=True, in_front_half=True)
    assert (full.diagnostics, full.verdict, full.in_front_half) == ("d", True, True)
    assert (str(UnavailableError("gone")), UnavailableError("gone").hint, UnavailableError("a", "b").hint) == (
        *("gone", "", "b"),
    )
    lost = DriverError("lost")
    assert (str(lost), lost.hint, lost.stage, lost.signal, lost.harmless) == ("lost", "", None, "", False)
    lost = DriverError("lost", "h", stage=Stage.LOAD, signal="SIGSEGV", harmless=True)
    assert (lost.hint, lost.stage, lost.signal, lost.harmless) == ("h", Stage.LOAD, "SIGSEGV", True)


def test_without_words_results_must_be_equal_and_a_nan_is_one() -> None:
    exact = Tolerance()
    assert (exact.atol, exact.rtol, exact.ulp, exact.equal_nan, exact.same_bits) == (0.0, 0.0, None, True, False)


def test_a_driver_does_what_it_must_not_where_a_check_fails_crashes_or_hangs() -> None:
    one = DriverCheckOutcome(config="c", driver="d", check="x", proves="p", state=CheckState.PASSED, rung=Rung.NONE)
    assert {state for state in CheckState if replace(one, state=state).failed} == {
        CheckState.FAILED,
        CheckState.CRASHED,
        CheckState.TIMED_OUT,
    }
    assert {str(state) for state in CheckState} == {
        *("passed", "failed", "crashed", "timed out", "not applicable", "not tried")
    }


@pytest.fixture
def file(cwd: Path) -> Path:
    path = cwd / "suite.toml"
    path.write_text(TEXT)
    return path


def test_errors_of_one_file_are_together_with_their_lines(file: Path) -> None:
    other = file.with_name("other.toml")
    other.write_text(TEXT)
    places = [(file, 1, "srcs"), (other, 0, "name"), (file, 0, "name")]
    found = SourceLocations.diagnostics(
        (
            (Origin(file=path, key_path=f"module_test_suite[{index}]"), Problem((key,), f"wrong {number}"))
            for number, (path, index, key) in enumerate(places)
        )
    )
    assert list(map(str, found)) == [
        "suite.toml:5: module_test_suite[1].srcs: wrong 0",
        "suite.toml:2: module_test_suite[0].name: wrong 2",
        "other.toml:2: module_test_suite[0].name: wrong 1",
    ]


@pytest.mark.parametrize(
    ("target_from", "flags", "may"),
    [
        ((), (), False),
        (("host",), (), True),
        (("host:vulkan://0",), (), True),
        (("hosts", "vulkan"), ("--cpu=generic", "host"), False),
        ((), ("--cpu=host",), True),
    ],
)
def test_what_is_compiled_for_this_host_asks_its_devices(
    target_from: tuple[str, ...], flags: tuple[str, ...], may: bool
) -> None:
    target = compile_target(flags=flags)
    assert replace(target, compiler=replace(target.compiler, target_from=target_from)).may_ask_devices is may


def test_the_devices_of_a_config_have_drivers_and_an_order() -> None:
    config = RuntimeConfig(
        name="r",
        driver="vulkan",
        devices=("vulkan://0", "local-task://", "2"),
        roles=("a", "b", "c"),
        used=(True, None, False),
        origin=Origin(file=Path("m"), key_path=""),
    )
    assert config.drivers == ("vulkan", "local-task")
    turned = config.with_devices([2, 0, 1])
    assert (turned.devices, turned.roles) == (("2", "vulkan://0", "local-task://"), ("c", "a", "b"))
    assert turned.used == (False, True, None)
