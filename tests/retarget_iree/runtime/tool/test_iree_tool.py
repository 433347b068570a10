"""Runs by `iree-run-module`: what it gives is what the runtime gives in the process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import ml_dtypes
import msgspec.structs
import numpy as np
import numpy.typing as npt
import pytest
from iree_modules import ARITHMETIC, FAILING
from iree_support import ORIGIN, VMVX, Compile, OpenDevice, checks_of, driver_named, runtime_config
from retarget.extension import Check, Device, DriverError, UnavailableError
from retarget.model import RuntimeConfig, Toolchain
from retarget.support import RetargetError
from retarget_iree.checks import return_checks
from retarget_iree.runtime.tool import _crash, open_tool

CRASHING = ("sh", "-c", 'case "$*" in *--function*) {};; *) exec "$@";; esac', "sh")


def config(*run_under: str, flags: Sequence[str] = (), toolchain: Toolchain | None = None) -> RuntimeConfig:
    plain = runtime_config("local-sync", flags=flags)
    return msgspec.structs.replace(plain, run_under=run_under, toolchain=toolchain)


@pytest.fixture
def tool() -> Iterator[Device]:
    device = driver_named("local-sync").open(config("env"))
    yield device
    device.close()


@pytest.fixture
def returned(compile_module: Compile) -> bytes:
    return compile_module(return_checks((ARITHMETIC + FAILING).encode(), "test.mlir"), *VMVX)


def no_check(_: object) -> None:
    raise AssertionError


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        ("tensor_and_scalars", (np.float32([1, -2, np.inf, np.nan]), np.int32(-7), np.float32(0.1))),
        ("scalars", (np.int8(-3), np.bool_(1), np.int64(2**40), np.float16(1.5), np.float32(-2.5), np.int64(9))),
        ("tensors", (np.bool_([1, 0]), np.uint8([1, 255]), ml_dtypes.bfloat16(0.5), np.zeros((0, 3), np.float32))),
        ("complex", (np.complex64([1 + 2j, -3j]),)),
        (
            "small",
            (
                np.arange(-4, 4).astype(ml_dtypes.int4),
                np.arange(5).astype(ml_dtypes.uint4),
                np.arange(-2, 1).astype(ml_dtypes.int2),
                np.ones((2, 3), ml_dtypes.float8_e8m0fnu),
            ),
        ),
        ("small_scalars", (ml_dtypes.int4(-3), ml_dtypes.float8_e4m3fn(1.5), ml_dtypes.float8_e8m0fnu(4))),
    ],
)
def test_numbers_and_tensors_come_back_as_in_the_process(
    function: str, inputs: Sequence[npt.ArrayLike], signatures: bytes, tool: Device, open_device: OpenDevice
) -> None:
    ours = tool.load(signatures)
    theirs = open_device("local-sync").load(signatures)
    assert list(ours.functions) == list(theirs.functions)
    arrays = [np.asarray(one) for one in inputs]
    pairs = zip(ours.call(function, arrays, no_check), theirs.call(function, arrays, no_check), strict=True)
    for actual, expected in pairs:
        assert (actual.dtype, actual.shape, actual.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.slow
def test_returned_checks_are_those_that_the_module_makes(
    returned: bytes, arithmetic: bytes, tool: Device, open_device: OpenDevice
) -> None:
    device = open_device("local-sync")
    assert [function.result_types for function in tool.load(returned).functions][:2] == [(), ()]
    for function in ("passes", "differs", "checks_nothing"):
        ours, theirs = checks_of(tool, returned, function), checks_of(device, arithmetic, function)
        assert len(ours) == len(theirs)
        for actual, expected in zip(ours, theirs, strict=True):
            assert (actual.kind, actual.atol, actual.rtol) == (expected.kind, expected.atol, expected.rtol)
            np.testing.assert_array_equal(actual.actual, expected.actual)
            np.testing.assert_array_equal(np.asarray(actual.expected), np.asarray(expected.expected))


def test_the_values_of_checks_are_no_results(returned: bytes, tool: Device) -> None:
    found: list[Check] = []
    assert not [*tool.load(returned).call("passes", (), found.append)]
    kinds = [(check.kind, repr(check.actual.tolist())) for check in checks_of(tool, returned, "scalars")]
    assert kinds == [("true", "True"), ("false", "False"), ("true", "False"), ("all_true", "[1, 1, 0]")]
    assert found


def test_a_failing_call_says_what_the_runtime_says(returned: bytes, tool: Device) -> None:
    program = tool.load(returned)
    with pytest.raises(DriverError) as caught:
        program.call("asserts", (), no_check)
    assert str(caught.value) == "FAILED_PRECONDITION; must be zero"
    assert (caught.value.stage, caught.value.no_verdict) == (None, False)


def test_results_of_the_call_before_are_none_of_a_call_whose_status_is_lost(returned: bytes) -> None:
    device = open_tool(config("sh", "-c", 'case "$*" in *=differs*) false | cat;; *) exec "$@";; esac', "sh"))
    program = device.load(returned)
    program.call("passes", (), [].append)
    with pytest.raises(DriverError, match=r"^the tool ended without an error and has not written output0"):
        program.call("differs", (), no_check)
    device.close()


@pytest.mark.parametrize(
    ("command", "used", "said"),
    [
        ('"$@" 2>&1 | cat', (), "has printed one\nEXEC @asserts\n<vm>:0: FAILED_PRECONDITION; must be zero;"),
        ('"$@" 2>&1 | cat', (False,), "has printed one\n"),
        ("true | cat", (), "has not called the function"),
        ("true | cat", (False,), "has not written call.ireereplay"),
    ],
)
def test_a_call_without_results_whose_status_is_lost_has_failed(
    command: str, used: tuple[bool, ...], said: str, returned: bytes
) -> None:
    under = config("sh", "-c", f'case "$*" in *asserts*) {command};; *) exec "$@";; esac', "sh")
    device = open_tool(msgspec.structs.replace(under, used=used))
    program = device.load(returned)
    program.call("checks_nothing", (), no_check)
    with pytest.raises(DriverError) as caught:
        program.call("asserts", (), no_check)
    device.close()
    assert str(caught.value).startswith(f"the tool ended without an error and {said}")
    assert caught.value.no_verdict == command.startswith("true")


@pytest.mark.parametrize(
    ("ends", "said", "no_verdict"),
    [
        ("echo no licence >&2; exit 3", "sh did not run the program: no licence", True),
        ("exit 127", "sh did not run the program: exit status 127", True),
        ("echo EXEC @passes; echo what >&2; exit 1", "what", False),
        ("echo '/x/archive.c:106: INVALID_ARGUMENT; no artifact' >&2; exit 1", "INVALID_ARGUMENT; no artifact", False),
    ],
)
def test_a_command_that_lists_devices_and_does_not_call_is_no_verdict_on_the_program(
    ends: str, said: str, no_verdict: bool, returned: bytes
) -> None:
    device = open_tool(config(*(word.replace("{}", ends) for word in CRASHING)))
    with pytest.raises(DriverError) as caught:
        device.load(returned).call("passes", (), no_check)
    device.close()
    assert (str(caught.value).removeprefix("/x/archive.c:106: "), caught.value.no_verdict) == (said, no_verdict)


@pytest.mark.parametrize(
    ("status", "crash"),
    [
        (0, ""),
        (1, ""),
        (-11, "SIGSEGV"),
        (-15, "SIGTERM"),
        (-250, "signal 250"),
        (139, "SIGSEGV"),
        (143, ""),
        (128, ""),
    ],
)
def test_a_signal_ended_the_tool_or_a_shells_child(status: int, crash: str) -> None:
    assert _crash(status) == crash


@pytest.mark.parametrize("ends", ["kill -SEGV $$", "exit 139"])
def test_a_crash_has_its_signal(ends: str, returned: bytes) -> None:
    """A shell whose child crashed exits with 128 and the number of the signal."""
    device = open_tool(config(*(word.replace("{}", ends) for word in CRASHING)))
    with pytest.raises(DriverError, match=r"^sh crashed: SIGSEGV") as caught:
        device.load(returned).call("passes", (), no_check)
    device.close()
    assert caught.value.signal == "SIGSEGV"


@pytest.mark.parametrize(("used", "work"), [((), ()), ((True,), (1,))])
def test_the_last_command_can_be_repeated_after_the_device_is_gone(
    used: tuple[bool, ...], work: tuple[int, ...], signatures: bytes, tmp_path: Path
) -> None:
    device = open_tool(msgspec.structs.replace(config("env"), used=used))
    program = device.load(signatures)
    program.call("tensor_and_scalars", (np.float32([1, 2, 3, 4]), np.int32(5), np.float32(6)), no_check)
    artifact = tmp_path / "m.vmfb"
    artifact.write_bytes(signatures)
    argv = program.last_command(artifact)
    assert [word.partition("=")[0] for word in argv if "replay" in word] == ["--device_replay_output"] * len(used)
    assert program.last_work() == work
    device.close()
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("4xf32=2 4 6 8\nresult[1]: i32=10\nresult[2]: f32=12\n")


@pytest.mark.parametrize(
    ("path", "run_under", "reason"),
    [
        ("empty", (), "{path} has no tool, which is its run_with"),
        ("foreign", (), "{path}/tool does not start: Exec format error"),
        ("foreign", ("sh", "-c", "exit 3", "/no/sysroot"), "{path}/tool behind sh does not run here: exit status 3"),
    ],
)
def test_what_cannot_run_the_tool_is_unavailable(
    path: str, run_under: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / path
    folder.mkdir()
    if path == "foreign":
        (folder / "tool").write_bytes(b"\x7fELF of another machine")
        (folder / "tool").chmod(0o755)
    other = Toolchain(name="other", path=folder, run_with="tool", origin=ORIGIN)
    with pytest.raises(UnavailableError) as caught:
        open_tool(config(*run_under, toolchain=other))
    assert str(caught.value) == reason.format(path=folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("#!/no/such/interpreter\n", "does not start: No such file or directory"),
        ("no program", "does not start: Exec format error"),
        ("#!/bin/sh\necho why >&2; exit 3\n", "does not run here: why"),
        ("#!/bin/sh\nqemu-of-nowhere 2>/dev/null\n", "does not run here: exit status 127"),
        ("#!/bin/sh\necho garbage\n", "does not run here: it lists no device of driver local-sync"),
    ],
)
def test_a_command_that_does_not_run_the_tool_is_an_error(content: str, said: str, tmp_path: Path) -> None:
    command = tmp_path / "wrap"
    command.write_text(content)
    command.chmod(0o755)
    with pytest.raises(RetargetError) as caught:
        open_tool(config(str(command)))
    assert not isinstance(caught.value, UnavailableError)
    assert str(caught.value).startswith(f"run_under of runtime config '{config().name}' does not run programs: ")
    assert str(caught.value).endswith(f"/iree-run-module behind {command} {said}")


def test_a_device_that_is_not_there_is_unavailable_behind_a_command_too() -> None:
    with pytest.raises(UnavailableError, match=r"/iree-run-module behind env does not run here: .*'none'"):
        open_tool(msgspec.structs.replace(config("env"), driver="none"))


def test_text_for_a_shell_is_no_missing_file(tmp_path: Path) -> None:
    (command := tmp_path / "wrap").write_text("#!/bin/sh\nexit 9\n")
    command.chmod(0o755)
    with pytest.raises(RetargetError) as caught:
        open_tool(config("sh", "-c", f'{command} "$0" "$@"'))
    assert not isinstance(caught.value, UnavailableError)
    command.unlink()
    with pytest.raises(UnavailableError):
        open_tool(config("sh", "-c", f'{command} "$0" "$@"'))
