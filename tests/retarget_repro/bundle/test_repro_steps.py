"""The step `run` of `repro.py`: devices are opened, cases are called and judged, with devices that are doubles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from retarget.extension import Check, DriverError, UnavailableError
from retarget.model import Origin, RuntimeConfig, Stage
from retarget_repro.bundle import archive, repro
from retarget_repro.bundle.repro import CannotTell

CASE = {"name": "f", "function": "f", "inputs": [], "expected": None, "tolerances": {}, "must_check": False}
CONFIG = RuntimeConfig(
    name="r", driver="d", roles=("a", "b"), used=(None, True), origin=Origin(file=Path("matrix.toml"), key_path="")
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the bundle."""
    monkeypatch.setattr(repro, "HERE", tmp_path)
    (tmp_path / "cases").mkdir()
    (tmp_path / "a.vmfb").write_bytes(b"artifact")
    return tmp_path


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(repro, "_note", lambda **what: found.append(what))
    return found


class Device:
    """Its functions return or raise `results`, after these `checks`."""

    def __init__(self, *results: Any, checks: Sequence[Check] = (), loads: Exception | None = None) -> None:
        self.results, self.checks, self.loads = list(results), checks, loads
        self.loaded: list[Any] = []
        self.calls: list[Any] = []

    def load(self, data: bytes) -> Device:
        self.loaded.append(data)
        if self.loads is not None:
            raise self.loads
        return self

    def load_with_parameters(self, data: bytes, parameters: Sequence[tuple[str, Path]]) -> Device:
        self.loaded.append(parameters)
        return self.load(data)

    functions = ()

    def call(self, function: str, inputs: Sequence[Any], check: Callable[[Check], None]) -> Any:
        self.calls.append((function, [None if one is None else one.tolist() for one in inputs]))
        for one in self.checks:
            check(one)
        result = self.results.pop(0) if self.results else []
        if isinstance(result, Exception):
            raise result
        return result


def ran(here: Path, device: Device, cases: Any, parameters: Any = (), **run: Any) -> None:
    (here / "cases" / "cases.json").write_text(json.dumps({"cases": cases, "parameters": parameters}))
    bundle = {"toolchain": "iree", "run": run}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repro, "_open", lambda *_: device)
        options: Any = SimpleNamespace(device=[])
        repro._run(bundle, options, here / "a.vmfb")


def array(here: Path, name: str, values: Any, dtype: Any = np.float32) -> dict[str, str]:
    np.save(here / "cases" / name, np.array(values, dtype))
    return {"file": f"{name}.npy", "dtype": np.dtype(dtype).name}


def failures(noted: list[dict[str, Any]]) -> list[Any]:
    return [one["failure"] for one in noted if "failure" in one]


def test_what_it_does_is_noted_before_it_can_crash(here: Path, noted: list[dict[str, Any]]) -> None:
    device = Device()
    ran(here, device, [CASE, {**CASE, "name": "g", "function": "h"}])
    assert noted == [
        {"at": "load"},
        {"at": "run", "case": "f"},
        {"at": "compare"},
        {"at": "run", "case": "g"},
        {"at": "compare"},
    ]
    assert (device.loaded, device.calls) == ([b"artifact"], [("f", []), ("h", [])])


def test_parameters_are_loaded_where_there_are_some(here: Path, noted: list[dict[str, Any]]) -> None:
    device = Device()
    ran(here, device, [], [["s", "p.irpa"]])
    assert device.loaded == [[("s", here / "cases" / "p.irpa")], b"artifact"]
    assert noted == [{"at": "load"}, {"failure": ["load", "the module has no functions to run"]}]


def test_a_kind_without_cases_is_only_loaded(here: Path, noted: list[dict[str, Any]]) -> None:
    ran(here, Device(), None)
    assert noted == [{"at": "load"}]


def test_results_are_compared_with_what_is_expected(here: Path, noted: list[dict[str, Any]]) -> None:
    given, expected = array(here, "given", [1, 2]), array(here, "expected", [2, 4])
    case = {**CASE, "inputs": [given], "expected": [expected], "tolerances": {"float32": {"atol": 0.5}}}
    device = Device([np.array([2, 4.25], np.float32)], [np.array([2, 5], np.float32)], [])
    ran(here, device, [case, case, {**case, "expected": [None]}])
    assert device.calls[0] == ("f", [[1.0, 2.0]])
    assert failures(noted) == [
        ["compare", "result 0: 1 of 2 elements differ, first at [1]: actual 5.0, expected 4.0"],
        ["compare", "0 results, expected 1"],
    ]


def test_checks_of_the_module_are_judged_and_the_first_that_fails_is_told(
    here: Path, noted: list[dict[str, Any]]
) -> None:
    same, other = (Check(kind="eq", actual=np.array([1]), expected=np.array([value])) for value in (1, 2))
    ran(here, Device(checks=[same, other, other]), [{**CASE, "must_check": True}])
    ((stage, summary),) = failures(noted)
    assert (stage, summary.partition(":")[0]) == ("compare", "check 2 of 3")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"must_check": True}, [["compare", "function 'f' made no check"]]),
        ({"must_check": True, "expected": []}, [["compare", "function 'f': 0 results to compare, expected 1 or more"]]),
        ({"must_check": False}, []),
    ],
)
def test_a_test_that_makes_no_check_fails(
    case: dict[str, Any], said: list[list[str]], here: Path, noted: list[dict[str, Any]]
) -> None:
    ran(here, Device(()), [{**CASE, **case}])
    assert failures(noted) == said


def test_a_case_that_fails_does_not_end_the_others(here: Path, noted: list[dict[str, Any]]) -> None:
    gone = DriverError("INTERNAL; gone\nmore", signal="SIGABRT")
    device = Device(gone, DriverError("", stage=Stage.LOAD), [])
    ran(here, device, [CASE, CASE, CASE])
    assert [one for one in noted if "failure" in one] == [
        {"failure": ["run", "INTERNAL; gone"], "signal": "SIGABRT"},
        {"failure": ["load", "the driver failed without a word"], "signal": ""},
    ]
    assert len(device.calls) == 3


def test_an_artifact_that_does_not_load_is_not_called(here: Path, noted: list[dict[str, Any]]) -> None:
    device = Device(loads=DriverError("no such function"))
    ran(here, device, [CASE])
    assert noted == [{"at": "load"}, {"failure": ["load", "no such function"], "signal": ""}]
    assert device.calls == []


def test_devices_of_other_extensions_are_opened_by_them(
    here: Path, noted: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    device = Device()
    monkeypatch.setattr(
        archive, "open_devices", lambda run, *more: asked.append((run["devices"], *more)) or (device, CONFIG)
    )
    (here / "cases" / "cases.json").write_text(json.dumps({"cases": None, "parameters": []}))
    options: Any = SimpleNamespace(device=["d://1"], toolchain=here)
    bundle = {"toolchain": "retarget", "run": {"devices": [{"uri": "d://0"}]}}
    repro._run(bundle, options, here / "a.vmfb")
    assert (asked, noted) == ([([{"uri": "d://0"}], ["d://1"], repro._note, here)], [{"at": "load"}])
    bundle["run"]["devices"] *= 2
    with pytest.raises(CannotTell, match=r"^--device: found 1, expected one for each device of the bundle, 2$"):
        repro._run(bundle, options, here / "a.vmfb")


@pytest.mark.parametrize(("counts", "said"), [((1, 2), []), ((3, 0), ["a = 3, b = 0"])])
def test_a_device_that_executes_nothing_and_should_is_a_failure_of_the_run(
    counts: tuple[int, int], said: list[str], here: Path, noted: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    device: Any = Device()
    device.infos, device.last_work = [SimpleNamespace(uri="d://0"), SimpleNamespace(uri="d://1")], lambda: counts
    monkeypatch.setattr(archive, "open_devices", lambda *_: (device, CONFIG))
    (here / "cases" / "cases.json").write_text(json.dumps({"cases": [CASE], "parameters": []}))
    options: Any = SimpleNamespace(device=[], toolchain=None)
    repro._run({"toolchain": "retarget", "run": {}}, options, here / "a.vmfb")
    words = "the device b (d://1) executed no work, expected some; dispatches: "
    assert failures(noted) == [["run", f"{words}{one}"] for one in said]


def test_arrays_have_the_element_type_that_npy_may_not_know(here: Path) -> None:
    assert repro._array(None) is None
    plain = repro._array(array(here, "plain", [1.5]))
    assert (plain.dtype.name, plain.tolist()) == ("float32", [1.5])
    entry = {**array(here, "bits", [0x3FC0], np.uint16), "dtype": "bfloat16"}
    found = repro._array(entry)
    assert (found.dtype.name, found.astype(np.float32).tolist()) == ("bfloat16", [1.5])


# ---------------------------------------------------------------- the import of a model


def test_a_model_is_imported_by_the_compilers_own_importer(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    importer = ModuleType("importer")
    importer.main, importer.parse_arguments = done.append, list  # type: ignore[attr-defined]
    package = ModuleType("iree.compiler.tools.import_onnx")
    package.__main__ = importer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "iree.compiler.tools.import_onnx", package)
    monkeypatch.setitem(sys.modules, "iree.compiler.tools.import_onnx.__main__", importer)
    monkeypatch.setattr(repro.os, "_exit", done.append)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, SimpleNamespace(flush=lambda name=name: done.append(name)))
    options: Any = SimpleNamespace(step=("import", "out.mlir"))
    repro._step({"compile": {"source": "m.onnx"}}, options)
    assert done == [[str(here / "m.onnx"), "-o", "out.mlir"], "stdout", "stderr", 0]


# ---------------------------------------------------------------- devices of IREE


class Driver:
    """A driver with two devices; one that is called `broken` does not open."""

    def __init__(self) -> None:
        self.opened: list[Any] = []

    def query_available_devices(self) -> list[dict[str, str]]:
        return [{"path": "", "name": "first"}, {"path": "gpu-1", "name": "second"}]

    def create_device(self, record: Mapping[str, str]) -> str:
        if record["name"] == "broken":
            msg = " out of memory "
            raise RuntimeError(msg)
        self.opened.append(record["name"])
        return f"device {record['name']}"

    def create_device_by_uri(self, uri: str) -> str:
        self.opened.append(uri)
        return f"device {uri}"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    import iree.runtime as rt
    import retarget_iree.runtime.program as programs
    from iree.runtime import flags

    made = Driver()

    def get(name: str) -> Driver:
        if name != "d":
            raise ValueError(f" no driver {name} ")  # noqa: EM102, TRY003
        return made

    monkeypatch.setattr(rt, "get_driver", get)
    monkeypatch.setattr(flags, "parse_flags", made.opened.append)
    monkeypatch.setattr(programs, "IreeDevice", lambda devices, infos: (devices, infos))
    return made


def opened(devices: Sequence[tuple[str, str]], uris: Sequence[str] = (), flags: Sequence[str] = ()) -> Any:
    run = {"flags": list(flags), "devices": [{"uri": uri, "name": name} for uri, name in devices]}
    devices, infos = repro._open(run, uris)
    return devices, [(info.driver, info.uri, info.ordinal, info.name, info.physical_id) for info in infos]


def test_a_device_is_opened_by_its_uri_then_by_its_name(driver: Driver) -> None:
    assert opened([("d://gpu-1", ""), ("d://gpu-9", "first")], flags=["--x"]) == (
        ["device second", "device first"],
        [("d", "d://gpu-1", 0, "second", "d://gpu-1"), ("d", "d://", 1, "first", "d://")],
    )
    assert driver.opened == ["--x", "second", "first"]


def test_without_a_path_it_is_the_first_and_parameters_are_passed_on(driver: Driver) -> None:
    assert opened([("d", "")])[0] == ["device first"]
    assert opened([("d://gpu-1?threads=2", "")])[0] == ["device d://gpu-1?threads=2"]
    assert driver.opened == ["first", "d://gpu-1?threads=2"]


@pytest.mark.usefixtures("driver")
def test_devices_of_the_command_line_replace_those_of_the_bundle() -> None:
    assert opened([("d://gpu-9", "")], ["d://gpu-1"])[0] == ["device second"]


@pytest.mark.parametrize(
    ("uri", "name", "said"),
    [
        ("e://", "", "the driver e has no device here: no driver e"),
        (
            "d://gpu-9",
            "other",
            "found no device d://gpu-9 other; there are: d:// (first), d://gpu-1 (second); --device names another",
        ),
        (
            "d://gpu-9",
            "",
            "found no device d://gpu-9; there are: d:// (first), d://gpu-1 (second); --device names another",
        ),
        ("d://0", "broken", "the device d://7 does not open: out of memory"),
    ],
)
def test_a_device_that_is_not_there_tells_nothing(
    uri: str, name: str, said: str, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "broken":
        monkeypatch.setattr(driver, "query_available_devices", lambda: [{"path": "7", "name": "broken"}])
    with pytest.raises(CannotTell) as error:
        opened([(uri, name)])
    assert str(error.value) == said
    assert driver.opened == []


def test_a_driver_without_devices_says_so(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "query_available_devices", list)
    with pytest.raises(CannotTell, match="found no device d://; there are: none; --device names another"):
        opened([("d://", "")])


def test_a_bundle_of_an_extension_is_compiled_with_the_toolchain_or_not_at_all(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive.os, "environ", dict(os.environ))
    (here / "m.mlir").write_text("module {}")
    (tool := here / "build" / "tools" / "iree-opt").parent.mkdir(parents=True)
    for path in (tool, tool.with_name("iree-compile")):
        path.write_text("#!/bin/sh\necho of this build\n")
        path.chmod(0o755)
    step = {"source": "m.mlir", "compiler": "iree-opt", "flags": ["--canonicalize"], "facts": []}
    with pytest.raises(UnavailableError, match="has no IREE compiler"):
        archive.compile_module({"compile": step}, here, here / "a.mlir", print, here / "cases")
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, str(here), json.dumps({"compile": step})],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, (here / "a.mlir").read_text()) == ("", "of this build\n")


COMPILE = """
import json, sys
from pathlib import Path
from retarget_repro.bundle import archive
here = Path(sys.argv[1])
archive.compile_module(json.loads(sys.argv[2]), here, here / "a.mlir", print, here / "build")
"""
