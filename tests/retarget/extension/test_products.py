"""What an extension returns is held against its protocol where it comes in: who returned what, what was expected."""

from __future__ import annotations

import inspect
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec.structs
import numpy as np
import pytest
from model_targets import compile_target, run_target
from retarget import extension
from retarget.extension import (
    Case,
    CaseData,
    Compiled,
    CompilerError,
    DriverError,
    ExtensionError,
    FunctionInfo,
    Resolved,
    RunPlan,
    Suggestions,
    hookimpl,
)
from retarget.extension.cases import run_case_plan
from retarget.extension.products import CommandModule, methods_of
from retarget.extension.registry import Registry, registry_of
from retarget.model import Module
from retarget.model.outcomes import DeviceInfo
from retarget.support.dependencies import code_reached
from retarget.support.errors import RetargetError

INFO = DeviceInfo(driver="npu", uri="npu://0", ordinal=0, name="NPU", physical_id="npu-0")
ONE = np.ones(1, np.float32)


class Answers:
    """Returns the same, whatever it is asked."""

    def __init__(self, answer: object) -> None:
        self._answer = answer


class Compiler(Answers, extension.Compiler):
    name = "tiny"
    artifact_suffix = ".bin"

    def fingerprint(self, config: object) -> Any:
        return self._answer

    def resolve(self, config: object, flags: object) -> Any:
        return self._answer

    def compile(self, request: object) -> Any:
        return self._answer

    def reproduce(self, target: object, flags: object, output: object) -> Any:
        return self._answer


class Shows(Compiler):
    def show(self, artifact: bytes) -> Any:
        return self._answer


class Driver(Answers, extension.Driver):
    name = "npu"

    def probe(self) -> Any:
        return self._answer

    def open(self, config: object) -> Any:
        return self._answer

    def functions(self, artifact: bytes) -> Any:
        return self._answer

    def run_outside(self, config: object, artifact: object, function: object, kind: object) -> Any:
        return self._answer


class Loader(Answers, extension.CaseLoader):
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


def test_a_build_has_the_code_of_its_compiler_unless_it_says_that_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    config: Any = SimpleNamespace(compiler="tiny")
    half = Resolved(build_id="h", flags=())
    answer = Resolved(build_id="b", flags=(), front_end=half)

    def found(code: object, **known: object) -> tuple[str, Resolved]:
        monkeypatch.setattr("retarget.extension.registry.code_reached", code)
        known |= {"__module__": __name__}
        compiler = type("Tiny", (Compiler,), {**known, "fingerprint": lambda self, config: "print"})(answer)
        made = registry(compiler=compiler)
        resolved = made.resolve(config, ())
        made.expect_code(made.compiler("tiny"), resolved)
        with pytest.raises(CompilerError, match="code of the compiler 'tiny' was edited"):
            made.expect_code(made.compiler("tiny"), msgspec.structs.replace(resolved, code="older"))
        return made.fingerprint(config), resolved

    printed, resolved = found(lambda _: "1a2b")
    assert (printed, resolved.whole_build) == ("print 1a2b", "b 1a2b")
    assert resolved.front_end is not None
    assert resolved.front_end.whole_build == "h 1a2b"
    monkeypatch.setenv("_TINY_OPTIONS", "-O1")  # this file is the compiler's code
    first, resolved = found(lambda _: "1a2b")
    monkeypatch.setenv("_TINY_OPTIONS", "-O2")
    second, other = found(lambda _: "1a2b")
    assert len({printed, first, second}) == 3
    assert len({one.facts for one in (answer, resolved, other)}) == 3
    assert "-O2" not in f"{second} {other}"
    assert found(lambda _: "1a2b", build_has_code=True) == ("print", answer)

    def lost(_: str) -> str:
        raise ModuleNotFoundError

    assert len({found(lost)[0] for _ in range(2)} | {found(lost)[1].whole_build for _ in range(2)}) == 4


def test_what_a_product_overrides_is_known() -> None:
    compiler, loader = Shows(""), Loader(())
    assert compiler.overrides("show")
    assert not Compiler("").overrides("show")
    assert loader.overrides("find_modules")
    assert not loader.overrides("make")
    assert Driver(()).maps_artifacts is False
    assert Registry().code_of(compiler) == code_reached(__name__)


def test_a_driver_that_does_not_sanitize_is_told_who_does() -> None:
    message = "found sanitize = true for the driver 'npu', expected it of "
    other = renamed(Driver, name="other", sanitizers=("shadow",))
    assert registry(driver=Driver(())).not_sanitized("npu") == f"{message}none"
    found = Registry(drivers={"npu": Driver(()), "other": other})
    assert [*map(found.not_sanitized, ("npu", "other", "unknown"))] == [f"{message}'other'", "", ""]
    assert [found.not_beside("npu", driver) for driver in ("npu", "unknown")] == ["", ""]


def test_what_has_a_method_of_its_own_or_loads_an_artifact_is_known_by_name() -> None:
    names: Any = renamed(Loader, data_files=lambda self, module, folder: ())
    found = Registry(case_loaders={"lines": Loader(()), "names": names})
    assert [*map(found.data_namer, ("lines", "names", "unknown"))] == [None, names, None]
    configs: Any = SimpleNamespace(name="cc", compiler="tiny"), SimpleNamespace(name="rt", driver="npu")
    for suffixes, fits in (((), True), ((".bin",), True), ((".x",), False)):
        drivers: Any = {"npu": renamed(Driver, artifact_suffixes=suffixes)}
        found = Registry(compilers={"tiny": Compiler(())}, drivers=drivers)
        assert (found.artifact_mismatch(*configs) == "") is fits


def test_a_command_of_a_module_runs_the_action_or_else_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "acting", SimpleNamespace(run=lambda _: 3))
    command = CommandModule(name="a", help="", module="acting")
    assert [command.run(Namespace()), command.run(Namespace(act=lambda _: 4))] == [3, 4]


@pytest.mark.parametrize(
    ("known", "folder", "more"),
    [
        (None, None, []),
        ({}, Path("s"), ["s/m.mlir"]),
        ({}, Path("t"), ["--folder=t", "s/m.mlir"]),
        ({"entry": "f", "data": (Path("d"),)}, None, ["--entry=f", "s/m.mlir", "d"]),
    ],
)
def test_a_plan_names_what_differs_from_the_modules_folder_and_its_first_function(
    known: dict[str, Any] | None, folder: Path | None, more: list[str]
) -> None:
    module = None if known is None else Module(name="m", path=Path("s/m.mlir"), **known)
    config = run_target(compile_target()).runtime
    plan = run_case_plan(kind="k", config=config, artifact=Path("a"), module=module, folder=folder, case="")
    assert [*plan.argv[3:]] == ["--kind=k", "--driver=local-sync", "--artifact=a", *more]


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
        ("open", None, "open() returned None, expected Device"),
        (
            "open",
            Answers(()),
            "open() returned a Answers, expected one of a subclass of retarget.extension.Device: "
            "class Answers(retarget.extension.Device)",
        ),
    ],
)
def test_of_a_driver(call: str, answer: object, message: str) -> None:
    driver = registry(driver=Driver(answer)).driver("npu")
    arguments = {"probe": 0, "functions": 1, "run_outside": 4, "open": 1}[call]
    assert printed(lambda: getattr(driver, call)(*[None] * arguments)) == DRIVER + message


class Program(extension.Program):
    def __init__(self, results: object) -> None:
        self._results = results
        self.functions = [FunctionInfo(name="main", arguments=0)]

    def call(self, function: str, inputs: object, on_check: object) -> Any:
        return self._results


class Device(extension.Device):
    def __init__(self, results: object, infos: Any = (INFO,)) -> None:
        self._program = Program(results)
        self.infos = infos

    def load(self, artifact: bytes) -> Any:
        return self._program


def opened(device: object) -> Any:
    return registry(driver=Driver(device)).driver("npu").open(None)


def test_of_a_device() -> None:
    assert printed(lambda: opened(Device((), infos="npu"))) == (
        f"{DRIVER}open(): infos is 'npu' (str), expected a sequence of DeviceInfo"
    )
    assert opened(Device([ONE])).load(b"").call("main", (), None) == (ONE,)


class Anything(dict[Any, Any]):
    """Any argument."""

    functions = ()


@pytest.mark.parametrize(
    ("product", "place", "missing", "defaults"),
    [
        (
            registry(compiler=Compiler(())).compiler("tiny"),
            COMPILER,
            "profile_target program_statistics run_front_end show shrink_command toolchain_environment",
            {"describe_build": "", "runtime_devices": {}, "takes": True}
            | dict.fromkeys(("device_problems", "release_packages"), ())
            | dict.fromkeys(("suggest_targets", "tags", "target_parts"), ()),
        ),
        (
            registry(driver=Driver(())).driver("npu"),
            DRIVER,
            "probe_on_host toolchain_environment",
            {"describe_build": "", "import_ahead": None, "runs_by_tool": False}
            | dict.fromkeys(("needs", "release_packages", "tags"), ()),
        ),
        (
            registry(loader=Loader(())).case_loader("lines"),
            LOADER,
            "check made make return_checks return_checks_command return_checks_version version",
            {"file_schema": None, "run_case_outside": None, "suggest_suites": Suggestions()}
            | dict.fromkeys(("data_diagnostics", "data_files"), ())
            | dict.fromkeys(("references", "suite_diagnostics"), ()),
        ),
        (opened(Device(())), f"{DRIVER}open(): ", "", {"close": None, "transfers": None}),
        (
            opened(Device(())).load(b""),
            f"{DRIVER}open(): load(): ",
            "last_work",
            {"device_seconds": (), "last_command": (), "report_work": None},
        ),
    ],
)
def test_what_is_not_overridden_answers_by_default_or_is_named(
    product: Any, place: str, missing: str, defaults: dict[str, Any]
) -> None:
    base, answers = product._product_base, dict.fromkeys(missing.split(), ExtensionError)
    for name in answers.keys() | defaults:
        assert not product.overrides(name)
        method = getattr(product, name)
        arguments = [Anything() for _ in inspect.signature(method).parameters]
        if name in defaults:
            answers[name] = method(*arguments)
        else:
            expected = f"found no {name}(), expected one: retarget.extension.{base.__name__}.{name} says when"
            assert printed(lambda call=method, given=arguments: call(*given)) == place + expected
    assert answers == defaults | dict.fromkeys(missing.split(), ExtensionError)
    left = {name for name in methods_of(base) if not product.overrides(name)} - answers.keys()
    assert left <= {"agreed", "bind_call", "load_with_parameters", "run_case_plan"}  # which do something


def test_a_device_without_parameter_files_names_the_scopes_that_are_wanted() -> None:
    message = "^the driver npu takes no parameter files, and the module wants those of scope .no name., s$"
    with pytest.raises(DriverError, match=message):
        opened(Device(())).load_with_parameters(b"", [("", Path("a")), ("s", Path("b"))])


def test_what_runs_behind_a_command_gives_no_outputs() -> None:
    configs: Any = [SimpleNamespace(driver="npu", run_under=words) for words in ((), ("qemu",))]
    assert [*map(registry(driver=Driver(())).gives_no_outputs, configs)] == [False, True]


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


def test_a_method_that_exits_does_not_end_pytest() -> None:
    class Exits(Compiler):
        def fingerprint(self, config: object) -> Any:
            sys.exit(3)

    line = inspect.unwrap(Exits.fingerprint).__code__.co_firstlineno + 1
    fingerprint = registry(compiler=Exits("")).compiler("tiny").fingerprint
    expected = f"{COMPILER}fingerprint() raised SystemExit: 3 (test_products.py:{line})"
    assert printed(lambda: fingerprint(None)) == expected


# ---------------------------------------------------------------- what is refused when it is loaded


def refused(product: object, sort: str = "driver") -> str:
    with pytest.raises(RetargetError) as caught:
        registry(**{sort: product})
    return str(caught.value)


def renamed(base: type, **names: object) -> object:
    return type("Product", (base,), names)(())


WHERE = "extension 'mine': hook retarget_drivers: "


def test_an_object_of_a_class_of_its_own_is_told_what_to_subclass() -> None:
    class NpuDriver(Answers):
        name = "npu"

    assert refused(NpuDriver(())) == (
        f"{WHERE}found an object of class NpuDriver, expected one of a subclass of retarget.extension.Driver: "
        "class NpuDriver(retarget.extension.Driver)"
    )
    assert refused(Driver) == f"{WHERE}found the class Driver, expected an object of it: Driver()"


def test_an_overriding_method_takes_the_arguments_of_the_base_class() -> None:
    where = f"{WHERE}driver 'npu': "
    assert refused(renamed(Driver, needs=lambda self: ())) == f"{where}found needs(), expected needs(artifact)"
    assert (
        refused(renamed(Driver, needs=lambda self, blob: ())) == f"{where}found needs(blob), expected needs(artifact)"
    )
    assert refused(renamed(Driver, needs=None)) == f"{where}found needs = None, expected needs(artifact)"
    registry(driver=renamed(Driver, needs=lambda self, artifact, more=1: (), helper=lambda self: 1))
