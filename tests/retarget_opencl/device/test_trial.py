"""A device's compiler is tried with a kernel, in a process of its own; and how long the answer is remembered."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from retarget.worker import KeptFiles
from retarget_opencl.device import implementations
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.device.implementations import KERNEL, known_fault, platforms_here, try_compiler

IDENTITY = ("platform", "1.0", "device")


@pytest.fixture(scope="module")
def place(found: FoundDevice) -> tuple[int, int]:
    """Where the first device is listed."""
    places = [
        (number, index)
        for number, platform in enumerate(platforms_here())
        for index, device in enumerate(platform.get_devices())
        if device == found.device
    ]
    return places[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        (KERNEL.replace("41", "unknown"), "unknown"),
        (KERNEL.replace("41", "42"), "a one-line kernel gives 43, expected 42"),
        (KERNEL.replace("one", "two"), "INVALID_KERNEL_NAME"),
    ],
)
def test_a_kernel_that_is_not_built_or_wrong_is_a_fault_in_the_compiler_s_words(
    place: tuple[int, int], kernel: str, fault: str
) -> None:
    found = try_compiler(place, kernel=kernel)
    assert found is not None
    assert fault in found
    assert "\n" not in found


def test_a_kernel_that_does_not_end_is_a_fault_once_its_time_is_up_and_its_process_ends_itself(
    place: tuple[int, int],
) -> None:
    endless = KERNEL.replace("{", "{ while (1) x[0] += get_global_id(1);")
    assert (
        try_compiler(place, kernel=endless, seconds=1) == "a one-line kernel was not built and run in 1 s of CPU time"
    )


def _ends(monkeypatch: pytest.MonkeyPatch, status: int, output: str, errors: str) -> None:
    """What a compiler does is given; no compiler does all of it when asked to."""
    done = SimpleNamespace(returncode=status, stdout=output, stderr=errors)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)


@pytest.mark.parametrize(
    ("status", "output", "errors", "fault"),
    [
        (-11, "", "", "a one-line kernel ends its compiler with SIGSEGV: it printed nothing"),
        (-6, "opened\n", "noise\nerror: no\nstack", "a one-line kernel ends its compiler with SIGABRT: error: no"),
        (1, "opened\n", "no bitcode\n", "a one-line kernel ends its compiler with exit status 1: no bitcode"),
        (1, "", "clCreateContext failed: OUT_OF_RESOURCES", None),
        (-signal.SIGALRM, "opened\n", "", "a one-line kernel was not built and run in 45 s"),
        (0, "opened\nerror: unknown target CPU 'generic'\nDevice failed\n", "", "unknown target CPU 'generic'"),
        (0, "opened\n", "a warning", ""),
    ],
)  # fmt: skip
def test_what_a_compiler_does_to_its_process_is_its_fault_but_not_that_a_device_does_not_open(
    monkeypatch: pytest.MonkeyPatch, status: int, output: str, errors: str, fault: str | None
) -> None:
    _ends(monkeypatch, status, output, errors)
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0, 0))
    assert try_compiler((0, 0)) == fault


def test_on_a_busy_machine_a_compiler_that_is_not_done_by_the_clock_has_no_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _ends(monkeypatch, -signal.SIGALRM, "opened\n", "")
    monkeypatch.setattr("os.getloadavg", lambda: (implementations.available_cores() + 1, 0, 0))
    assert try_compiler((0, 0)) is None


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str | None]:
    """What trials are going to find, the last first; an empty cache."""
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(tmp_path))
    found: list[str | None] = []
    monkeypatch.setattr(implementations, "try_compiler", lambda place: found.pop())
    return found


@pytest.mark.parametrize("damage", [b"", b"no digest", b"[1]", b'["fault"]', b"7"])
def test_what_is_kept_and_damaged_is_found_out_again(
    answers: list[str | None], tmp_path: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers += ["again", "broken"]
    known_fault(IDENTITY, (0, 0))
    (kept,) = (one for one in tmp_path.rglob("*") if one.is_file())
    kept.write_bytes(damage)
    files = KeptFiles(kept.parents[3])
    if damage[:1] in b"[7":  # the digest is right: another version of this package wrote it
        files.write(kept.name, damage)
    assert known_fault(IDENTITY, (0, 0)) == "again"
    assert json.loads(files.read(kept.name) or b"")[0] == "again"
