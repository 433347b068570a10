"""Where the tool runs: on this machine, or on a host to which it is pushed. The connection is a double."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import DriverError, UnavailableError
from retarget.model import Host, RuntimeConfig, Toolchain
from retarget.session.cache.key import host_identity
from retarget.session.run.service import RunService
from retarget.worker import RemoteCalls
from retarget.worker.hosts import HostError
from retarget_iree.builds import RuntimeBuild
from retarget_iree.runtime import tool as places
from retarget_iree.runtime.tool import HostPlace, Place, _machine, _pushed
from retarget_iree.toolchain import find_tool
from ssh_server import local_host


def elf(number: int) -> bytes:
    return b"\x7fELF" + bytes(14) + number.to_bytes(2, "little") + bytes(4)


@pytest.mark.parametrize(
    ("head", "machine"),
    [
        (elf(3), "x86"),
        (elf(8), "mips"),
        (elf(21), "ppc64le"),
        (elf(40), "arm"),
        (elf(62), "x86_64"),
        (elf(183), "arm64"),
        (elf(243), "riscv64"),
        (elf(258), "loongarch64"),
        (elf(999), ""),
        (b"#!/bin/sh\n" + bytes(20), ""),
    ],
)
def test_an_elf_file_is_built_for_a_machine(tmp_path: Path, head: bytes, machine: str) -> None:
    (tmp_path / "tool").write_bytes(head)
    assert _machine(tmp_path / "tool") == machine


def test_a_tool_is_pushed_with_its_libraries_into_a_folder_named_by_all_of_them(tmp_path: Path) -> None:
    for name, text in (
        ("bin/tool", "t"),
        ("bin/liba.so", "a"),
        ("lib/libb.so.1", "b"),
        ("lib/other", "o"),
        ("bin/x", "x"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files, tool = _pushed(tmp_path / "bin/tool")
    folder = tool.removesuffix("bin/tool")
    assert files == {
        f"{folder}bin/tool": tmp_path / "bin/tool",
        f"{folder}bin/liba.so": tmp_path / "bin/liba.so",
        f"{folder}lib/libb.so.1": tmp_path / "bin/../lib/libb.so.1",
    }
    assert (len(folder), folder[:6], folder[-6:]) == (6 + 64 + 6, "store/", ".tool/")
    assert _pushed(tmp_path / "bin/tool")[1] == tool
    (tmp_path / "lib/libb.so.1").write_text("another")
    assert _pushed(tmp_path / "bin/tool")[1] != tool


class Calls:
    """A connection to an arm64 host."""

    error: Exception | None = None
    pushed_name, with_paths = staticmethod(RemoteCalls.pushed_name), staticmethod(RemoteCalls.with_paths)

    def __init__(self, host: Host) -> None:
        if self.error is not None:
            raise self.error
        self.host, self.platform = host, SimpleNamespace(system="Linux", machine="aarch64", cpu="1")
        self.closed = 0

    def digest(self, path: str) -> str:
        return hashlib.sha256(path.encode()).hexdigest()

    def run(self, argv: Any, **known: Any) -> Any:
        return argv, known

    def by_hand(self, argv: Any, **known: Any) -> Any:
        return argv, known

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make the place of a config, whose tool is built for a machine of this number."""

    def make(number: int, *, run_with: str = "", **known: Any) -> HostPlace:
        tool = tmp_path / "iree-run-module"
        tool.write_bytes(elf(number))
        build = SimpleNamespace(tool=tool, describe=lambda *, runs_tool=False: f"IREE 3.1{' by its tool' * runs_tool}")
        monkeypatch.setattr(places, "find_tool", lambda _: build)
        host = Host(name="board", kind="ssh", address="b", run_with=run_with, env=(("H", "1"),), origin=ORIGIN)
        return HostPlace(config(env=(("C", "2"),), **known), Calls(host))  # type: ignore[arg-type]

    return make


def config(**known: Any) -> RuntimeConfig:
    return run_target(compile_target(), **known).runtime


def test_a_tool_for_the_hosts_machine_is_pushed(place: Any, tmp_path: Path) -> None:
    for number in (183, 40, 999):  # arm64 runs arm, and what is not known is tried
        made = place(number)
        assert made.build == "IREE 3.1 by its tool"
        assert made.tool.endswith(".tool/bin/iree-run-module")
    argv, known = made.run(["x"], inputs=[tmp_path / "iree-run-module"], outputs=[Path("o")])
    assert (argv, known["env"], known["outputs"]) == (["x"], (("H", "1"), ("C", "2")), [Path("o")])
    assert len(known["needs"]) == 2
    argv, known = made.by_hand(["x"], {tmp_path / "iree-run-module": None})
    assert (argv, known["env"], len(known["needs"])) == (["x"], (("H", "1"), ("C", "2")), 1)
    made.close()
    assert made._calls.closed == 1


def test_a_host_may_have_its_own_tool(place: Any) -> None:
    made = place(62, run_with="/opt/tool")
    digest = hashlib.sha256(b"/opt/tool").hexdigest()
    assert (made.tool, made.build) == ("/opt/tool", f"/opt/tool of host 'board' (SHA-256 {digest[:12]})")
    assert made.run(["x"])[1]["needs"] == {}


def test_devices_of_a_host_are_of_its_cpu(tmp_path: Path) -> None:
    found = []
    for other in ("", "grep() { echo 'model name : another'; }; ", ""):
        host = local_host(tmp_path, run=("sh", "-c", f"{other}{{command}}"))
        runtime = config(host=replace(host, run_with=str(find_tool(None).tool)))
        with RunService(extensions=(), default_timeout=60) as service:
            found += [one.host for one in service.devices(replace(runtime, driver="local-sync"))]
    assert found[0] == found[2]
    assert len({*found, host_identity()}) == 3


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({}, "iree-run-module (IREE 3.1) is built for x86_64; host 'board' is arm64"),
        ({"host_arch": ("riscv64",)}, "host 'board' is linux on arm64"),
    ],
)
def test_what_a_host_cannot_run_is_not_available(place: Any, known: dict[str, Any], message: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        place(62, **known)
    assert message in str(caught.value)


def test_behind_run_under_a_tool_may_be_built_for_another_machine(place: Any) -> None:
    assert place(62, run_under=("qemu",)).build == "IREE 3.1 by its tool"


def test_a_host_that_is_not_reached_is_not_available(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Calls, "error", HostError("no route", "switch it on"))
    with pytest.raises(UnavailableError, match=r"^no route$") as caught:
        place(183)
    assert caught.value.hint == "switch it on"
    monkeypatch.setattr(Calls, "error", None)

    def lost(*_: object) -> None:
        raise HostError("lost", "again")  # noqa: EM101

    monkeypatch.setattr(Calls, "digest", lost)
    with pytest.raises(UnavailableError, match=r"^lost$"):
        place(183, run_with="/opt/tool")


def test_on_this_machine_the_tool_runs_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = SimpleNamespace(
        tool=Path(sys.executable), describe=lambda *, runs_tool=False: f"IREE 3.1{' by its tool' * runs_tool}"
    )
    monkeypatch.setattr(places, "find_tool", lambda _: build)
    monkeypatch.setattr(places, "keep_input", lambda content: Path(f"/kept/inputs/{content.decode()}"))
    made = Place(config())
    assert (made.tool, made.build) == (sys.executable, "IREE 3.1 by its tool")
    done = made.run(
        [sys.executable, "-c", "import sys; print('out'); print(sys.stdin.read(), file=sys.stderr); sys.exit(3)"]
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "\n")
    (tmp_path / "in").write_text("x")
    files = {tmp_path / "in": None, tmp_path / "a": Path("/store/a")}
    argv = made.by_hand(["tool", f"--input=@{tmp_path / 'in'}", f"--module={tmp_path / 'a'}"], files)
    assert list(argv) == ["tool", "--input=@/kept/inputs/x", "--module=/store/a"]


# ---------------------------------------------------------------- the devices that a tool lists


class Lists:
    """A place whose tool lists two devices, or ends so."""

    tool, build = "t", "b"
    cpu = ""

    def __init__(self, *end: Any) -> None:
        self.end, self.asked, self.closed = end, [], False  # type: ignore[var-annotated]

    def run(self, argv: list[str]) -> Any:
        self.asked.append(argv)
        if self.end and isinstance(self.end[0], Exception):
            raise self.end[0]
        status, text = self.end or (
            0,
            "# ===\n# --device=x://GPU-1\n#   one\n# ===\nmore\n# ===\n# --device=x://GPU-2\n#   two\n# ===\n",
        )
        return SimpleNamespace(returncode=status, stdout=text, stderr="no way\n" * bool(status))

    def close(self) -> None:
        self.closed = True


def opened(monkeypatch: pytest.MonkeyPatch, place: Lists, *devices: str, **known: Any) -> Any:
    toolchain, found = Toolchain(name="t", path=Path("there"), origin=ORIGIN), []
    monkeypatch.setattr(places, "open_place", lambda _: place)
    monkeypatch.setattr(places, "live_features", lambda driver, path, dump, complete: ((driver, path),))
    monkeypatch.setattr(places, "host_vendor", lambda: "ours")
    monkeypatch.setattr(
        places, "find_tool", lambda of: found.append(of) or RuntimeBuild(folder=Path(), tool=Path("own/run"))
    )
    config = RuntimeConfig(name="c", driver="vulkan", devices=devices, toolchain=toolchain, origin=ORIGIN, **known)
    device = places.open_tool(config)
    assert found == (
        [] if device.recorder is None else [None if known.get("run_under") or known.get("host") else toolchain]
    )
    return device


HOST = Host(name="board", kind="ssh", address="b", origin=ORIGIN)


@pytest.mark.parametrize(
    ("devices", "known", "command", "recorder"),
    [
        ((), {}, ("t", "--device=vulkan://GPU-1"), None),
        (
            ("vulkan://GPU-2?a=1", "vulkan://0"),
            {"used": (None, None)},
            ("t", "--device=vulkan://GPU-2?a=1", "--device=vulkan://GPU-1"),
            None,
        ),
        (("1",), {"used": (False,)}, ("t", "--device=vulkan://GPU-2"), Path("own/iree-dump-replay")),
        (
            ("1",),
            {"used": (True,), "run_under": ("env",)},
            ("env", "t", "--device=vulkan://GPU-2"),
            Path("own/iree-dump-replay"),
        ),
        (("1",), {"used": (True,), "host": HOST}, ("t", "--device=vulkan://GPU-2"), Path("own/iree-dump-replay")),
    ],
)
def test_the_devices_of_a_config_are_opened_by_the_tool(
    monkeypatch: pytest.MonkeyPatch,
    devices: tuple[str, ...],
    known: dict[str, Any],
    command: tuple[str, ...],
    recorder: Path | None,
) -> None:
    device = opened(monkeypatch, place := Lists(), *devices, **known)
    assert (device.command, device.recorder) == (command, recorder)
    assert place.asked == [[*known.get("run_under", ()), "t", "--dump_devices=vulkan"]]
    (info, *_) = device.infos
    is_here = "run_under" not in known and "host" not in known
    path, vendor = info.uri.removeprefix("vulkan://"), {"GPU-1": "one", "GPU-2": "two"}
    assert (info.runtime, info.vendor) == ("b", vendor[path])
    assert info.features == ((("vulkan", path),) if is_here else ())
    assert info.physical_id.startswith(f"{HOST.identity} ") is ("host" in known)


@pytest.mark.parametrize(("known", "vendor"), [({}, "ours"), ({"run_under": ("qemu",)}, ""), ({"host": HOST}, "")])
def test_a_cpu_is_of_the_hosts_vendor(monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], vendor: str) -> None:
    device = opened(monkeypatch, Lists(), "local-task://", **known)
    assert [(info.vendor, info.exclusive) for info in device.infos] == [(vendor, "host" in known)]


@pytest.mark.parametrize(
    ("end", "known", "said"),
    [
        ((3, ""), {}, "t does not run here: no way"),
        ((0, ""), {}, "t does not run here: it lists no device of driver vulkan"),
        ((0, ""), {"host": HOST}, "t on host 'board' does not run: it lists no device of driver vulkan"),
        (
            (0, "# Enumerated devices for driver 'vulkan'\n"),
            {"run_under": ("qemu",), "host": HOST},
            "t behind qemu on host 'board' does not run: it lists no device of driver vulkan",
        ),
        ((127, ""), {"run_under": ("qemu",), "host": HOST}, "t behind qemu on host 'board' does not run: no way"),
        ((HostError("gone", "wait"),), {"host": HOST}, "gone"),
    ],
)
def test_a_tool_that_lists_no_devices_says_why(
    monkeypatch: pytest.MonkeyPatch, end: tuple[Any, ...], known: dict[str, Any], said: str
) -> None:
    place = Lists(*end)
    with pytest.raises(UnavailableError) as caught:
        opened(monkeypatch, place, **known)
    assert (str(caught.value), place.closed) == (said, True)


@pytest.mark.parametrize(
    ("declared", "shape"),
    [
        ("tensor<2x3xbf16>", (2, 3)),
        ("tensor<?x3xbf16>", (2, 3)),
        ("tensor<bf16>", None),
        ("tensor<?x?xbf16>", None),
        ("!hal.buffer_view", None),
    ],
)
def test_elements_without_a_shape_get_that_of_their_type(
    tmp_path: Path, declared: str, shape: tuple[int, ...] | None
) -> None:
    (tmp_path / "o.bin").write_bytes(bytes(range(12 if shape else 2)))
    if declared.count("?") < 2 and "bf16" in declared:
        found = places.read_output(tmp_path / "o.bin", "r", declared)
        assert (found.shape, found.tobytes()) == (shape or (), bytes(range(12 if shape else 2)))
    else:
        with pytest.raises(DriverError, match=f"^a {re.escape(declared)} comes back without its shape: "):
            places.read_output(tmp_path / "o.bin", "r", declared)
