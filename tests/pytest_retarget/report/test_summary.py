"""The table at the end, from records alone."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_retarget.report.terminal import Tally, count_text
from retarget.model import DeviceInfo, Observation
from retarget.results import DeviceRecord, Result, TargetRecord
from retarget.results.record import CompileRecord

RUNTIMES = ("", "local-sync", "local-task")


def linalg(**known: Any) -> TargetRecord:
    return TargetRecord(file="a/suite.toml", suite="linalg", **known)


def tally(*outcomes: tuple[str, str, str]) -> Tally:
    """Count (compiler, runtime, category) of suite `linalg`."""
    made = Tally()
    for position, (compiler, runtime, category) in enumerate(outcomes):
        record = linalg(compiler=compiler, runtime=runtime, position=position)
        made.add(record, category)
    return made


def lines(made: Tally, width: int = 80, verbosity: int = 0) -> list[str]:
    return [line.text for line in made.lines(width=width, verbosity=verbosity)]


ALL_WELL = [(compiler, runtime, "passed") for compiler in ("llvm-cpu", "vmvx") for runtime in RUNTIMES]


def test_a_suite_in_which_all_went_well_is_one_line() -> None:
    assert lines(tally(*ALL_WELL, ("vulkan", "", "skipped"))) == ["linalg  6 ok, 1 skip"]


def test_verbose_shows_its_table() -> None:
    assert lines(tally(*ALL_WELL), verbosity=1) == [
        "linalg      compile  local-sync  local-task",
        "  llvm-cpu  1 ok     1 ok        1 ok",
        "  vmvx      1 ok     1 ok        1 ok",
    ]


def test_quiet_leaves_out_what_went_well() -> None:
    assert lines(tally(*ALL_WELL), verbosity=-1) == []


def test_a_failure_shows_the_table_with_the_failing_row_marked() -> None:
    made = tally(*ALL_WELL, ("vmvx", "local-sync", "failed"), ("metal", "", "passed"))
    found = list(made.lines(width=80, verbosity=0))
    assert [line.text for line in found] == [
        "linalg      compile  local-sync    local-task",
        "  llvm-cpu  1 ok     1 ok          1 ok",
        "  vmvx      1 ok     1 ok, 1 FAIL  1 ok",
        "  metal     1 ok     -             -",
    ]
    assert [line.bad for line in found] == [False, False, True, False]


def test_a_table_wider_than_the_terminal_becomes_a_list() -> None:
    made = tally(*ALL_WELL, ("vmvx", "local-sync", "failed"))
    assert lines(made, width=40) == [
        "linalg",
        "  llvm-cpu",
        "    compile     1 ok",
        "    local-sync  1 ok",
        "    local-task  1 ok",
        "  vmvx",
        "    compile     1 ok",
        "    local-sync  1 ok, 1 FAIL",
        "    local-task  1 ok",
    ]


def test_rows_and_columns_keep_declared_order_whatever_order_reports_come_in() -> None:
    forward, backward = tally(*ALL_WELL), Tally()
    for position, (compiler, runtime, category) in reversed(list(enumerate(ALL_WELL))):
        record = linalg(compiler=compiler, runtime=runtime, position=position)
        backward.add(record, category)
    assert lines(backward, verbosity=1) == lines(forward, verbosity=1)


def test_reasons_are_grouped_and_the_commonest_stands_first() -> None:
    made = Tally()
    for reason, hint in (("no ICD", "install one"), ("no phone", ""), ("no phone", "")):
        made.add(TargetRecord(file="s", suite="s", compiler="c", runtime="r", reason=reason, hint=hint), "skipped")
    assert lines(made)[1:] == ["skipped: no phone (2 targets)", "skipped: no ICD (1 target)", "  install one"]


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"passed": 12}, "12 ok"),
        ({"error": 1, "passed": 2, "blocked": 3}, "2 ok, 1 ERROR, 3 block"),
        ({"xpassed": 1, "xfailed": 2, "rerun": 3}, "2 xfail, 1 XPASS, 3 rerun"),
    ],
)
def test_counts_read_in_one_order(counts: dict[str, int], text: str) -> None:
    assert count_text(counts) == text


def test_what_other_processes_compiled_is_counted_once() -> None:
    made = Tally()
    for key in ("a", "b", "c"):
        made.add(TargetRecord(file="s", suite="s", compiler="c", compile=CompileRecord(key=key)), "passed")
    made.add_compiles({"compiled": 1, "reused": 2, "seconds": 1.0})
    assert made.compile_line() == "compiled 1, reused 2; 1.0 s of compiling"
    made.add_compiles({"compiled": 1, "reused": 2, "seconds": 0.5})
    assert made.compile_line() == "compiled 2, reused 1; 1.5 s of compiling"


def test_seconds_are_reported_where_something_was_compiled() -> None:
    made = Tally()
    made.add_compiles({"compiled": 0, "reused": 0, "seconds": 0.0})
    assert not made.compile_line()
    made.add_compiles({"compiled": 0, "reused": 2, "seconds": 0.0})
    made.keys.update("ab")
    assert made.compile_line() == "compiled 0, reused 2"


def test_the_numbers_of_a_column_end_below_each_other() -> None:
    made = tally(
        *[("vmvx", "local-sync", "passed")] * 10, ("llvm-cpu", "local-sync", "failed"), ("metal", "", "passed")
    )
    assert lines(made) == [
        "linalg      compile  local-sync",
        "  vmvx      -        10 ok",
        "  llvm-cpu  -         1 FAIL",
        "  metal     1 ok     -",
    ]


def test_a_device_names_the_runtime_configs_unless_that_says_nothing_new() -> None:
    made = Tally()
    used = [("sync", "local-sync: CPU"), ("vulkan", "vulkan: llvmpipe"), ("slow", "vulkan: A"), ("vulkan", "vulkan: A")]
    for runtime, text in used:
        driver, name = text.split(": ")
        device = DeviceInfo(driver=driver, name=name, uri=text, ordinal=0, physical_id=name)
        made.add(TargetRecord(file="s", suite="s", compiler="c", runtime=runtime, devices=(device,)), "passed")
    assert lines(made)[1:] == [
        "device: local-sync: CPU (sync)",
        "device: vulkan: A (slow, vulkan)",
        "device: vulkan: llvmpipe",
    ]


def test_a_device_says_what_drives_it_and_what_was_not_used() -> None:
    made = Tally()
    note = "Oclgrind 21.10; not used: PoCL 3.0: unknown CPU"
    device = DeviceInfo(driver="opencl", name="Simulator", uri="opencl://0", ordinal=0, physical_id="cpu", note=note)
    devices = (DeviceRecord.of(device),)
    made.add(TargetRecord(file="s", suite="s", compiler="c", runtime="opencl", devices=devices), "passed")
    assert lines(made)[1:] == [f"device: opencl: Simulator, {note}"]


def test_builds_are_named_with_the_configs_that_used_them() -> None:
    made = Tally()
    used = [("vmvx", "", "iree 3", ""), ("vmvx", "sync", "iree 3", "rt 3"), ("mine", "task", "iree 4 (/b)", "rt 3")]
    for compiler, runtime, build, ran in used:
        record = TargetRecord(
            file="s",
            suite="s",
            compiler=compiler,
            runtime=runtime,
            compile=CompileRecord(key="k", build=build),
            devices=(DeviceInfo(driver="d", name="n", runtime=ran, uri="", ordinal=0, physical_id=""),) if ran else (),
        )
        made.add(record, "passed")
    assert [line for line in lines(made)[1:] if not line.startswith("device")] == [
        "compiler: iree 3 (vmvx)",
        "compiler: iree 4 (/b) (mine)",
        "runtime: rt 3 (sync, task)",
    ]


def test_what_the_store_mended_is_reported_once() -> None:
    made = tally(*ALL_WELL)
    for _ in range(2):
        made.add_compiles({}, ["entry x was damaged and is compiled again"])
    assert lines(made) == ["linalg  6 ok", "note: entry x was damaged and is compiled again"]


def test_known_failures_leave_a_suite_one_line() -> None:
    assert lines(tally(*ALL_WELL, ("metal", "", "xfailed"))) == ["linalg  6 ok, 1 xfail"]


def test_flaky_targets_are_counted_and_listed_apart() -> None:
    made = tally(*ALL_WELL)
    record = linalg(compiler="vmvx", reason="x_vmvx passed at attempt 2 (known)")
    made.add(record, "flaky")
    found = list(made.lines(width=80, verbosity=0))
    assert [line.text for line in found] == ["linalg  6 ok, 1 flaky", "flaky: x_vmvx passed at attempt 2 (known)"]
    assert not any(line.fine for line in found)
    quiet = list(made.lines(width=80, verbosity=-1))
    assert [line.text for line in quiet] == ["flaky: x_vmvx passed at attempt 2 (known)"]


def test_intermittent_targets_are_counted_apart_and_listed_by_reason() -> None:
    made = tally(*ALL_WELL)
    differing = Observation(stage="compare", signature="values differ")
    results = [(Result.PASSED, None), (Result.FAILED, differing), (Result.FAILED, differing), (Result.UNKNOWN, None)]
    for result, observation in results:
        record = linalg(compiler="vmvx", reason="a data race", result=result, observation=observation)
        made.add(record, "intermittent")
    found = list(made.lines(width=80, verbosity=0))
    printed = "intermittent: a data race (4 targets: 2 failed at compare, 1 passed, 1 not compiled)"
    assert [line.text for line in found] == ["linalg  6 ok, 4 intermittent", printed]
    assert not any(line.fine for line in found)
    assert [line.text for line in made.lines(width=80, verbosity=-1)] == [printed]


def test_many_targets_that_block_others_are_counted_unless_all_are_requested() -> None:
    made = tally(*ALL_WELL)
    for number in range(7):
        made.add(linalg(compiler="vmvx", runtime="r", reason=f"blocked by m{number}"), "blocked")
    printed = [line.text for line in made.lines(width=80, verbosity=0) if line.text.startswith("blocked")]
    assert printed == [
        *(f"blocked by m{number} (1 target)" for number in range(4)),
        "blocked by 3 others (3 targets; -v names them)",
    ]
    assert sum(line.text.startswith("blocked") for line in made.lines(width=80, verbosity=1)) == 7


def test_what_the_shared_store_gave_and_got_is_one_line() -> None:
    moved = {"fetched": 3, "absent": 2, "fetched_bytes": 5 << 20, "uploaded": 1, "uploaded_bytes": 100}
    made = Tally()
    made.add_compiles({"compiled": 2})
    assert made.shared_line() == ""

    alone = Tally()
    alone.add_compiles(moved)
    assert alone.shared_line() == "3 of 5 outcomes from the shared store (5.0 MiB), 1 uploaded (100 B)"

    several = Tally()
    several.add_compiles({"absent": 1})
    several.add_compiles({"absent": 1, "uploaded": 1, "uploaded_bytes": 100})
    assert several.shared_line() == "0 outcomes from the shared store, 1 uploaded (100 B)"
