"""The properties of a target in junit files, and the records that they are from."""

from __future__ import annotations

from msgspec.structs import replace
from retarget.model.outcomes import CallTimes, DeviceInfo
from retarget.results.record import (
    CaseRecord,
    CompileRecord,
    DeviceRecord,
    Outcome,
    ReusedRecord,
    RunRecord,
    TimesRecord,
)
from sample_results import passed

DEVICE = DeviceInfo(
    driver="vulkan",
    uri="vulkan://0",
    ordinal=0,
    name="GPU",
    physical_id="p0",
    driver_version="9.1",
    runtime="IREE 3",
    vendor="AMD",
    driver_name="radv",
    type="gpu",
    features=(("memory", 2**30),),
)


def test_a_target_that_was_tried_has_what_is_known_of_it() -> None:
    record = replace(
        passed("s::t", module="m"),
        compile=CompileRecord(key="k", build="b", seconds=1.5, reused=True, host="build-7"),
        run=RunRecord(
            load_seconds=0.25,
            run_seconds=0.5,
            compare_seconds=0.125,
            failed_cases=("f",),
            host="gpu-1",
            notes=("lost",),
        ),
        devices=(DeviceRecord.of(DEVICE), DeviceRecord.of(DEVICE)),
        reused=ReusedRecord(host="build-7", ended=1_750_000_000.0),
        attempt=2,
        cases=(
            CaseRecord(name="f", outcome=Outcome.FAILED, seconds=0.75, dispatches="a=3"),
            CaseRecord(name="g", outcome=Outcome.PASSED),
        ),
    )
    device = [("device", "GPU"), ("device_id", "p0"), ("driver_version", "9.1")]
    expected = [
        *(
            ("nodeid", "s::t"),
            ("suite", "s"),
            ("module", "m"),
            ("compiler", "c"),
            ("runtime", "r"),
            ("stage", "compare"),
        ),
        *(("compile_key", "k"), ("compiler_build", "b"), ("reused", "true"), ("compile_seconds", "1.500000")),
        ("compiled_on", "build-7"),
        *(("load_seconds", "0.250000"), ("run_seconds", "0.500000"), ("compare_seconds", "0.125000")),
        *(("ran_on", "gpu-1"), ("case.failed", "f"), ("note", "lost"), *device, *device, ("runtime_build", "IREE 3")),
        *(("result_reused", "2025-06-15T15:06:40Z on build-7"), ("attempts", "2"), ("case_dispatches.f", "a=3")),
        *(("case_outcome.f", "failed"), ("case_seconds.f", "0.750000")),
        *(("case_outcome.g", "passed"), ("case_seconds.g", "0.000000")),
    ]
    assert list(record.properties()) == [(f"retarget.{name}", value) for name, value in expected]
    one = replace(record, cases=record.cases[:1], attempt=1, reused=None)
    assert not [name for name, _ in one.properties() if "case_outcome" in name or "attempts" in name]


def test_a_device_is_kept_with_its_traits_and_its_memory() -> None:
    record = DeviceRecord.of(DEVICE)
    assert (record.memory, record.uri, record.runtime) == (2**30, "vulkan://0", "IREE 3")
    assert record.traits == DEVICE.traits
    assert DeviceRecord.of(_without_memory(DEVICE)).memory == 0


def _without_memory(info: DeviceInfo) -> DeviceInfo:
    known = {name: getattr(info, name) for name in DeviceInfo.__slots__ if name != "features"}
    return DeviceInfo(**known, features=(("memory", "much"),))


def test_times_are_kept_to_the_nanosecond() -> None:
    times = CallTimes(
        first=1.12345678949,
        median=2.12345678949,
        spread=0.1234567,
        calls=3,
        samples=(1.0000000004,),
        device=(2.0000000016,),
    )
    assert TimesRecord.of(times) == TimesRecord(
        first=1.123456789, median=2.123456789, spread=0.12346, calls=3, samples=(1.0,), device=(2.000000002,)
    )
