"""What an extension returns is held against its protocol where it comes in: who returned what, what was expected."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from retarget.extension import (
    Case,
    CaseData,
    Compiled,
    FindsModules,
    FunctionInfo,
    HasParameters,
    LoadsParameters,
    Resolved,
    RunPlan,
    ShowsArtifacts,
    TransferLimits,
    Transfers,
    TransfersBuffers,
    hookimpl,
)
from retarget.extension.registry import Registry, registry_of
from retarget.extension.returned import ExtensionError
from retarget.model import Module
from retarget.model.outcomes import DeviceInfo
from retarget.support.errors import RetargetError

INFO = DeviceInfo(driver="npu", uri="npu://0", ordinal=0, name="NPU", physical_id="npu-0")
ONE = np.ones(1, np.float32)


class Answers:
    """Returns the same, whatever it is asked."""

    def __init__(self, answer: object) -> None:
        self._answer = answer


class Compiler(Answers):
    name = "tiny"
    artifact_suffix = ".bin"

    def fingerprint(self, config: object) -> Any:
        return self._answer

    def resolve(self, config: object, flags: object) -> Any:
        return self._answer

    def compile(self, request: object) -> Any:
        return self._answer

    def tags(self, config: object) -> Sequence[str]:
        return ()

    def reproduce(self, target: object, flags: object, output: object) -> Any:
        return self._answer


class Shows(Compiler):
    def show(self, artifact: bytes) -> Any:
        return self._answer


class Driver(Answers):
    name = "npu"

    def probe(self) -> Any:
        return self._answer

    def open(self, config: object) -> Any:
        return self._answer

    def functions(self, artifact: bytes) -> Any:
        return self._answer

    def tags(self, config: object) -> Sequence[str]:
        return ()

    def run_outside(self, config: object, artifact: object, function: object, kind: object) -> Any:
        return self._answer


class Loader(Answers):
    kind = "lines"

    def load(self, request: object) -> Any:
        return self._answer

    def find_modules(self, folder: object, srcs: object) -> Any:
        return self._answer

    def parameters(self, request: object) -> Any:
        return self._answer


def registry(*, compiler: object = None, driver: object = None, loader: object = None) -> Registry:
    extension = SimpleNamespace()
    for hook, product in (
        ("retarget_compilers", compiler),
        ("retarget_drivers", driver),
        ("retarget_case_loaders", loader),
    ):
        if product is not None:
            setattr(extension, hook, _hook(product))
    return registry_of({"mine": extension})


def _hook(product: object) -> Callable[[], list[object]]:
    def provide() -> list[object]:
        return [product]

    return hookimpl(provide)


def printed(call: Callable[[], object]) -> str:
    with pytest.raises(ExtensionError) as caught:
        call()
    return str(caught.value)


COMPILER = "extension 'mine': compiler 'tiny': "
DRIVER = "extension 'mine': driver 'npu': "
LOADER = "extension 'mine': case loader 'lines': "


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("fingerprint", None, "fingerprint() returned None, expected str"),
        ("resolve", "-O3", "resolve() returned '-O3' (str), expected Resolved"),
        ("resolve", Resolved(build_id=7, flags=()), "resolve().build_id is 7 (int), expected str"),
        ("resolve", Resolved(build_id="", flags="-O3"), "resolve().flags is '-O3' (str), expected a sequence of str"),
        ("resolve", Resolved(build_id="", flags=(), files=("a",)), "resolve().files[0] is 'a' (str), expected Path"),
        (
            "resolve",
            Resolved(build_id="", flags=(), facts=("cpu",)),
            "resolve().facts[0] is 'cpu' (str), expected a pair of str",
        ),
        ("compile", None, "compile() returned None, expected Compiled"),
        ("compile", b"code", "compile() returned b'code' (bytes), expected Compiled"),
        ("compile", Compiled(artifact="code"), "compile().artifact is 'code' (str), expected bytes"),
        ("reproduce", "tiny a.mlir", "reproduce() returned 'tiny a.mlir' (str), expected a sequence of str"),
        ("reproduce", ["tiny", Path("a")], "reproduce()[1] is a PosixPath, expected str"),
        ("show", b"text", "show() returned b'text' (bytes), expected str"),
    ],
)
def test_of_a_compiler(method: str, answer: object, message: str) -> None:
    compiler = registry(compiler=Shows(answer)).compiler("tiny")
    arguments = {"fingerprint": 1, "resolve": 2, "compile": 1, "reproduce": 3, "show": 1}[method]
    assert printed(lambda: getattr(compiler, method)(*[None] * arguments)) == COMPILER + message


def test_features_of_devices_are_of_any_sort() -> None:
    features = (("npu.dma", True), ("memory", 2**33), ("npu.version", "1.3"), ("npu.sizes", (8, 32)))
    driver = registry(driver=Driver([replace(INFO, features=features)])).driver("npu")
    assert driver.probe()[0].features == features


def test_what_a_protocol_allows_passes_and_sequences_become_tuples() -> None:
    resolved = Resolved(build_id="1", flags=["-O3"])
    assert registry(compiler=Compiler(resolved)).compiler("tiny").resolve(None, ()) is resolved
    driver = registry(driver=Driver(iter([INFO]))).driver("npu")
    assert driver.probe() == (INFO,)
    assert registry(driver=Driver(None)).driver("npu").run_outside(None, None, "f", "k") is None
    compiled = Compiled(artifact=memoryview(b"x"))
    assert registry(compiler=Compiler(compiled)).compiler("tiny").compile(None) is compiled


def test_a_product_can_be_copied() -> None:
    driver = registry(driver=Driver([INFO])).driver("npu")
    assert copy.copy(driver).probe() == (INFO,)


def test_a_product_keeps_the_protocols_that_it_has_and_only_those() -> None:
    found = registry(compiler=Shows(""), loader=Loader(()))
    assert isinstance(found.compiler("tiny"), ShowsArtifacts)
    assert not isinstance(registry(compiler=Compiler("")).compiler("tiny"), ShowsArtifacts)
    loader = found.case_loader("lines")
    assert isinstance(loader, FindsModules)
    assert isinstance(loader, HasParameters)
    assert not isinstance(loader, LoadsParameters)


@pytest.mark.parametrize(
    ("call", "answer", "message"),
    [
        ("probe", None, "probe() returned None, expected a sequence of DeviceInfo"),
        ("probe", [INFO, "npu"], "probe()[1] is 'npu' (str), expected DeviceInfo"),
        (
            "probe",
            [replace(INFO, features=(("memory", 1), ("npu.lanes", (1, "2"))))],
            "probe()[0].features[1][1] is a tuple, expected bool or int or float or str or tuple",
        ),
        (
            "probe",
            [replace(INFO, features=("memory",))],
            "probe()[0].features[0] is 'memory' (str), expected a pair of str and bool or int or float or str or tuple",
        ),
        ("functions", ["main"], "functions()[0] is 'main' (str), expected FunctionInfo"),
        ("run_outside", ["tool"], "run_outside() returned a list, expected RunPlan"),
        ("run_outside", RunPlan(argv="tool a"), "run_outside().argv is 'tool a' (str), expected a sequence of str"),
        (
            "open",
            None,
            "open() returned None, expected a device with infos, load, close; infos, load, close is missing",
        ),
    ],
)
def test_of_a_driver(call: str, answer: object, message: str) -> None:
    driver = registry(driver=Driver(answer)).driver("npu")
    arguments = {"probe": 0, "functions": 1, "run_outside": 4, "open": 1}[call]
    assert printed(lambda: getattr(driver, call)(*[None] * arguments)) == DRIVER + message


class Program:
    def __init__(self, results: object) -> None:
        self._results = results

    @property
    def functions(self) -> Sequence[FunctionInfo]:
        return [FunctionInfo(name="main", arguments=0)]

    def call(self, function: str, inputs: object, on_check: object) -> Any:
        return self._results


class Device:
    def __init__(self, results: object, infos: object = (INFO,)) -> None:
        self._program = Program(results)
        self.infos = infos

    def load(self, artifact: bytes) -> Any:
        return self._program

    def close(self) -> None:
        pass


class Misspelt(Device):
    def load_with_parameter(self, artifact: bytes, parameters: object) -> Any:
        return self._program


def opened(device: object) -> Any:
    return registry(driver=Driver(device)).driver("npu").open(None)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, " returned None, expected a sequence of NumPy arrays"),
        ([ONE, 3.0], "[1] is 3.0 (float), expected a NumPy array"),
        ("text", " returned 'text' (str), expected a sequence of NumPy arrays"),
    ],
)
def test_of_a_program(results: object, message: str) -> None:
    program = opened(Device(results)).load(b"")
    assert printed(lambda: program.call("main", (), None)) == f"{DRIVER}open(): load(): call(){message}"


def test_of_a_device() -> None:
    assert printed(lambda: opened(Device((), infos="npu")).infos) == (
        f"{DRIVER}open(): infos is 'npu' (str), expected a sequence of DeviceInfo"
    )
    assert opened(Device([ONE])).load(b"").call("main", (), None) == (ONE,)
    assert printed(lambda: opened(Misspelt(()))) == (
        f"{DRIVER}open() has 'load_with_parameter', which nothing calls; did you mean 'load_with_parameters'?"
    )


class Transferring(Device):
    def __init__(self, transfers: object) -> None:
        super().__init__(())
        self._transfers = transfers

    def transfers(self) -> Any:
        return self._transfers


def test_of_the_memory_and_the_queue_of_a_device() -> None:
    """They have all methods of the protocol, and each returns what it declares."""
    names = [name for name in vars(Transfers) if not name.startswith("_")]
    memory = SimpleNamespace(**dict.fromkeys(names, lambda *_: None) | {"limits": TransferLimits()})
    device = opened(Transferring(memory))
    assert isinstance(device, TransfersBuffers)
    assert device.transfers().limits == TransferLimits()
    assert printed(lambda: device.transfers().wait(None, 1.0)) == (
        f"{DRIVER}open(): transfers(): wait() returned None, expected bool"
    )
    del memory.map
    assert printed(device.transfers) == (
        f"{DRIVER}open(): transfers() returned a SimpleNamespace, expected a transfers with {', '.join(names)}; map is "
        "missing"
    )


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("load", None, "load() returned None, expected a sequence of Case"),
        ("load", ["main"], "load()[0] is 'main' (str), expected Case"),
        (
            "load",
            [Case(name="c", function="f", inputs=(1.0,))],
            "load()[0].inputs[0] is 1.0 (float), expected a NumPy array",
        ),
        ("load", [Case(name=1, function="f")], "load()[0].name is 1 (int), expected str"),
        (
            "load",
            [Case(name="c", function="f", read=CaseData())],
            "load()[0].read is a CaseData, expected a function without arguments",
        ),
        ("find_modules", [Path("a")], "find_modules()[0] is a PosixPath, expected Module"),
        ("find_modules", [Module(name="a", path="a")], "find_modules()[0].path is 'a' (str), expected Path"),
        ("parameters", ["a.irpa"], "parameters()[0] is 'a.irpa' (str), expected a pair of str and Path"),
    ],
)
def test_of_a_case_loader(method: str, answer: object, message: str) -> None:
    loader = registry(loader=Loader(answer)).case_loader("lines")
    arguments = {"load": 1, "find_modules": 2, "parameters": 1}[method]
    assert printed(lambda: getattr(loader, method)(*[None] * arguments)) == LOADER + message


def test_of_what_a_case_reads() -> None:
    cases = [Case(name="c", function="f", read=lambda: (ONE,))]
    [case] = registry(loader=Loader(cases)).case_loader("lines").load(None)
    assert case.read is not None
    assert printed(case.read) == f"{LOADER}load()[0].read() returned a tuple, expected CaseData"


def test_what_a_method_in_pytests_process_raises_is_reported_with_its_line() -> None:
    class Raises(Compiler):
        def fingerprint(self, config: object) -> Any:
            return {}["version"]

        def compile(self, request: object) -> Any:
            return {}["a worker reports it with its traceback"]

    compiler = registry(compiler=Raises("")).compiler("tiny")
    line = Raises.fingerprint.__code__.co_firstlineno + 1
    expected = f"{COMPILER}fingerprint() raised KeyError: 'version' (test_returned.py:{line})"
    assert printed(lambda: compiler.fingerprint(None)) == expected
    with pytest.raises(KeyError):
        compiler.compile(None)


def test_a_method_that_exits_does_not_end_pytest() -> None:
    class Exits(Compiler):
        def fingerprint(self, config: object) -> Any:
            sys.exit(3)

    line = Exits.fingerprint.__code__.co_firstlineno + 1
    fingerprint = registry(compiler=Exits("")).compiler("tiny").fingerprint
    expected = f"{COMPILER}fingerprint() raised SystemExit: 3 (test_returned.py:{line})"
    assert printed(lambda: fingerprint(None)) == expected


# ---------------------------------------------------------------- protocols that are optional


def refused(product: object, sort: str = "loader") -> str:
    with pytest.raises(RetargetError) as caught:
        registry(**{sort: product})
    return str(caught.value)


def renamed(base: type, **names: object) -> object:
    return type("Product", (base,), names)(())


def test_a_method_that_is_almost_one_of_an_optional_protocol_is_refused() -> None:
    class Bare:
        kind = "lines"

        def __init__(self, answer: object) -> None:
            pass

        def load(self, request: object) -> Any:
            return ()

    where = "extension 'mine': hook retarget_case_loaders: case loader 'lines': "
    assert refused(renamed(Bare, find_module=lambda self, folder, srcs: ())) == (
        f"{where}found 'find_module', which nothing calls; did you mean 'find_modules' of FindsModules? "
        "If not, let its name begin with '_'"
    )
    assert "did you mean 'suite_diagnostics' of ChecksSuites?" in refused(
        renamed(Bare, suites_diagnostics=lambda self: ())
    )
    assert refused(renamed(Bare, make=lambda self, description, folder: None)) == (
        f"{where}found make without version and made, expected all of MakesModules: version, make, made"
    )
    assert refused(renamed(Bare, references=lambda self, module: ())) == (
        f"{where}found references(module), expected references(module, folder, compiler)"
    )
    registry(loader=renamed(Bare, _find_module=None, helper=lambda self: 1, describe=lambda self: ""))


def test_attributes_are_held_against_optional_protocols_too() -> None:
    assert "found 'artifact_suffix', which nothing calls; did you mean 'artifact_suffixes' of LoadsArtifacts?" in (
        refused(renamed(Driver, artifact_suffix=".bin"), "driver")
    )
    assert "found artifact_suffixes = '.bin', expected a tuple of strings" in (
        refused(renamed(Driver, artifact_suffixes=".bin"), "driver")
    )
