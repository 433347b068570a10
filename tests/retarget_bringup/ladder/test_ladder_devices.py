"""A ladder says on which devices it was recorded, and a check on another one says so before anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from laddered import fails, id_of, ladder, passes, record, rule, session, target
from model_targets import compile_target, run_target
from retarget.model import Expectation
from retarget.results import DeviceRecord, Outcome
from retarget.session import RuleSet
from retarget_bringup.ladder.check import apply_options
from retarget_bringup.ladder.files import Ladder, Settings, read_ladder, read_settings, write_ladder
from retarget_bringup.ladder.states import Devices, TargetState, states

GIB = 2**30
NEW = "vulkan: New, driver 2.0"
BOTH = [target("a"), target("b")]


def device(name: str = "New", version: str = "2.0", memory: int = 8 * GIB) -> DeviceRecord:
    return DeviceRecord(
        driver="vulkan", uri="vulkan://0", name=name, physical_id="p", driver_version=version, memory=memory
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bringup").mkdir()
    (tmp_path / "bringup/x.toml").write_text('select = "run"\n')
    return read_settings(tmp_path / "bringup/x.toml")


def recorded(settings: Settings, *devices: str, **lines: str) -> Ladder:
    write_ladder(settings.ladder_file, ladder(**lines).lines, devices)
    return read_ladder(settings.ladder_file)


def tried(on: DeviceRecord, of: Ladder, *, b_fails: bool = False) -> list[TargetState]:
    b = fails("b", devices=(on,)) if b_fails else passes("b", devices=(on,))
    return states(BOTH, [session(passes("a", devices=(on,)), b)], of, stable=3)


def test_a_check_on_another_device_says_so_before_what_fell(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded(settings, "vulkan: Old*", a="matches", b="matches")
    assert apply_options(settings, before, tried(device(), before, b_fails=True), raises=False) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == (
        f"another device: 2 targets ran on {NEW}; recorded on vulkan: Old*: their rungs may differ for that alone"
    )
    assert second.startswith("lower: 1 target fell to ")


def test_raising_on_another_device_says_what_it_does_and_keeps_both(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded(settings, "vulkan: Old*", a="matches", b="matches")
    assert apply_options(settings, before, tried(device(), before), raises=True) == 0
    assert read_ladder(settings.ladder_file).devices == ("vulkan: Old*",)  # it raised nothing
    capsys.readouterr()
    before = recorded(settings, "vulkan: Old*", a="matches", b="loads")
    assert apply_options(settings, before, tried(device(), before), raises=True) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("recorded on vulkan: Old*: what only this one reaches fails --check on the other")
    after = read_ladder(settings.ladder_file)
    assert after.devices == (NEW, "vulkan: Old*")
    assert Devices(tried(device(), after), after.devices).notes(raises=False) == []


@pytest.mark.parametrize(
    "rules",
    [(), [rule(match=("b",), outcome="skip", when="on(name='New')", reason="no f16")]],
    ids=["required", "skipped"],
)
def test_raising_where_a_device_lacks_what_another_has_keeps_the_line(
    settings: Settings, capsys: pytest.CaptureFixture[str], rules: Sequence[Expectation]
) -> None:
    both = [target("a"), target("b", rules=RuleSet(rules).rules_for(run_target(compile_target("b"))))]
    skipped = record("b", outcome=Outcome.SKIPPED, reason="no f16", unsuitable=not rules, devices=(device(),))
    results = [session(passes("a", devices=(device(),)), skipped)]
    before = recorded(settings, "vulkan: Old*", a="loads", b="matches")
    status = apply_options(settings, before, states(both, results, before, stable=3), raises=True)
    printed = capsys.readouterr().out
    assert status == ("x.ladder does not hold: 1 problem\n" in printed) == (not rules)
    said = "skipped on this device: " if rules else "where none has it any more, remove the line: "
    assert f"{said}1 target, such as {id_of('b')}: no f16\n" in printed
    assert f"{id_of('b')} matches" in settings.ladder_file.read_text()
    by_hand = recorded(settings, NEW, a="matches")
    assert apply_options(settings, by_hand, states(both, results, by_hand, stable=3), raises=True) == 0


@pytest.mark.parametrize(
    ("memory", "words"),
    [(0, ""), (GIB // 2, ", below 1 GiB"), (GIB, ", 1 GiB"), (4 * GIB - 1, ", 2 GiB"), (4 * GIB, ""), (80 * GIB, "")],
)
def test_memory_counts_in_steps_and_up_to_what_matters(memory: int, words: str) -> None:
    of = ladder(a="matches", b="matches")
    assert Devices(tried(device(memory=memory), of), ()).new == [NEW + words]


def test_a_driver_that_the_ladder_names_no_device_of_says_nothing(settings: Settings) -> None:
    of = recorded(settings, "opencl: Other", a="matches", b="matches")
    devices = Devices(tried(device(), of), of.devices)
    assert (devices.notes(raises=False), devices.after(changed=False)) == ([], ["opencl: Other", NEW])


@pytest.mark.parametrize("name", ["opencl", "vmvx", "vulkan"])
def test_shipped_ladders_name_their_devices(name: str) -> None:
    shipped = read_ladder(Path(__file__).parents[3] / "bringup" / f"{name}.ladder")
    drivers = {"local-sync", "local-task"} if name == "vmvx" else {name}
    assert {one.partition(":")[0] for one in shipped.devices} == drivers
