"""Loading and calling modules on the devices of the real runtime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from iree_modules import ARITHMETIC, ELEMENT_TYPES
from iree_support import LLVM_CPU, VMVX, Compile, OpenDevice, checks_of, driver_named
from retarget.extension import CaseRequest, Check, Device, DriverError, FunctionInfo
from retarget.support import RetargetError
from retarget_iree.checks import CheckCaseLoader

DTYPES = {name: np.dtype(getattr(ml_dtypes, dtype, dtype)) for name, (_, dtype, _) in ELEMENT_TYPES.items()}


def no_check(check: Check) -> None:
    pytest.fail(f"unexpected check {check}")


@pytest.mark.parametrize("driver", ["local-sync", "local-task"])
def test_a_check_that_holds_arrives_with_both_sides_and_its_tolerance(
    driver: str, open_device: OpenDevice, arithmetic: bytes
) -> None:
    (check,) = checks_of(open_device(driver), arithmetic, "passes")
    assert check.kind == "almost_eq"
    assert check.actual.dtype == np.float32
    assert check.actual.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert check.expected is not None
    assert check.expected.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert check.atol == pytest.approx(1e-4)
    assert check.rtol == 0.0


@pytest.mark.slow
def test_llvm_cpu_code_runs_and_checks(open_device: OpenDevice, compile_module: Compile) -> None:
    artifact = compile_module(ARITHMETIC, *LLVM_CPU)
    (check,) = checks_of(open_device("local-task", flags=["--task_topology_group_count=2"]), artifact, "passes")
    assert check.actual.tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_checked_arrays_outlive_the_device(arithmetic: bytes, open_device: OpenDevice) -> None:
    device = open_device("local-sync")
    (check,) = checks_of(device, arithmetic, "differs")
    device.close()
    assert check.actual.flags.owndata or check.actual.base is not None
    assert check.actual.sum() == 6
    check.actual[0] = 9
    assert check.actual.tolist() == [9, 2, 3]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_element_type_arrives_in_its_dtype_with_its_values(
    name: str, open_device: OpenDevice, element_types: bytes
) -> None:
    (check,) = checks_of(open_device("local-sync"), element_types, f"t_{name}")
    assert check.actual.dtype == DTYPES[name]
    assert check.actual.tolist() == np.array(ELEMENT_TYPES[name][2], DTYPES[name]).tolist()
    assert check.expected is not None
    assert check.expected.dtype == DTYPES[name]


def test_scalar_and_all_true_checks_arrive_in_order(open_device: OpenDevice, failing: bytes) -> None:
    checks = checks_of(open_device("local-sync"), failing, "scalars")
    assert [(check.kind, check.actual.tolist()) for check in checks] == [
        ("true", True),
        ("false", False),
        ("true", False),
        ("all_true", [1, 1, 0]),
    ]
    assert all(check.expected is None for check in checks)


def test_an_error_in_the_sink_comes_out_of_the_call(open_device: OpenDevice, arithmetic: bytes) -> None:
    program = open_device("local-sync").load(arithmetic)

    def sink(_: Check) -> None:
        msg = "the sink is full"
        raise OSError(msg)

    with pytest.raises(OSError, match="the sink is full"):
        program.call("passes", (), sink)
    assert program.call("checks_nothing", (), no_check) == ()


def test_functions_are_listed_without_initialisers(open_device: OpenDevice, arithmetic: bytes) -> None:
    taken = ("tensor<2xf32>",)
    expected = [
        FunctionInfo(name="passes", arguments=0),
        FunctionInfo(name="differs", arguments=0),
        FunctionInfo(name="checks_nothing", arguments=0),
        FunctionInfo(name="with_argument", arguments=1, argument_types=taken),
    ]
    assert list(open_device("local-sync").load(arithmetic).functions) == expected
    assert list(driver_named("cuda").functions(arithmetic)) == expected  # asks for no device


def test_a_function_whose_name_looks_internal_is_listed_too(compile_module: Compile) -> None:
    artifact = compile_module(ARITHMETIC.replace("@passes", "@__passes"), *VMVX)
    assert [one.name for one in driver_named("local-sync").functions(artifact)][:2] == ["__passes", "differs"]


def request_for(functions: Sequence[FunctionInfo]) -> CaseRequest:
    path = Path(__file__)
    return CaseRequest(module="m", source=path, folder=path.parent, compiler="vmvx", functions=tuple(functions))


def test_the_check_loader_asks_each_function_to_check_and_refuses_those_with_arguments() -> None:
    functions = [
        FunctionInfo(name="f", arguments=0),
        FunctionInfo(name="g", arguments=2),
        FunctionInfo(name="h", arguments=None),
    ]
    cases = CheckCaseLoader().load(request_for(functions))
    assert [(case.name, case.function, case.expected, case.must_check) for case in cases] == [
        (name, name, None, True) for name in "fgh"
    ]
    cases[0].values()
    for case in cases[1:]:
        with pytest.raises(RetargetError, match=r"^the function takes arguments, so that its checks cannot be made"):
            case.values()
    assert CheckCaseLoader().load(request_for(functions[1:])) == ()


def test_tensors_and_scalars_go_in_and_come_out(open_device: OpenDevice, signatures: bytes) -> None:
    program = open_device("local-sync").load(signatures)
    tensor = np.arange(8, dtype=np.float32)[::2]  # not contiguous
    results = program.call("tensor_and_scalars", [tensor, np.array(21), np.float32(1.25)], no_check)
    assert [result.dtype for result in results] == [np.float32, np.int32, np.float32]
    assert [result.tolist() for result in results] == [[0.0, 4.0, 8.0, 12.0], 42, 2.5]


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        ("scalars", (np.int8(-3), np.True_, np.int64(2**40), np.float16(1.5), ml_dtypes.bfloat16(-2.5), np.int64(7))),
        ("small_scalars", (ml_dtypes.int4(-3), ml_dtypes.float8_e4m3fn(-1.5), ml_dtypes.float8_e8m0fnu(0.25))),
        ("tensors", (np.bool_([1, 0]), np.uint8([1, 255]), ml_dtypes.bfloat16(0.5), np.zeros((0, 3), np.float32))),
        ("complex", (np.complex64([1 + 2j, -0.5j]),)),
    ],
)
def test_numbers_and_tensors_of_every_kind_survive_the_way(
    open_device: OpenDevice, signatures: bytes, function: str, inputs: Sequence[np.generic]
) -> None:
    arrays = [np.asarray(value) for value in inputs]
    results = open_device("local-sync").load(signatures).call(function, arrays, no_check)
    assert [(one.dtype, one.shape, one.tolist()) for one in results] == [
        (one.dtype, one.shape, one.tolist()) for one in arrays
    ]


def test_a_result_that_numpy_cannot_hold_is_named(open_device: OpenDevice, signatures: bytes) -> None:
    with pytest.raises(DriverError) as caught:
        open_device("local-sync").load(signatures).call("three_bits", [], no_check)
    assert str(caught.value) == "result 0 of three_bits: no NumPy dtype holds elements of type i3"
    assert caught.value.hint == (
        "let the module convert them to another type before it checks or returns them (`arith.extsi`)"
    )


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        ("scalar", [], "the module exports no function 'scalar'; it exports: "),
        ("complex", [], "complex takes 1 arguments (tensor<2xcomplex<f32>>); 0 were given"),
        (
            "tensor_and_scalars",
            [np.zeros(4, np.float64), np.array(1), np.array(1.0)],
            "INVALID_ARGUMENT; input0 element type mismatch; expected f32 (21000020) but have f64 (21000040)",
        ),
        (
            "tensor_and_scalars",
            [np.zeros(4, np.float32), np.zeros(3, np.int32), np.array(1.0)],
            "argument 1 of tensor_and_scalars: expected one number (i32), found an array of shape (3,)",
        ),
        (
            "tensor_and_scalars",
            [np.array(["text"]), np.array(1), np.array(1.0)],
            "argument 0 of tensor_and_scalars: arrays of dtype <U4 cannot be passed to a module; expected one of: ",
        ),
    ],
)
def test_a_wrong_call_is_refused_and_told(
    function: str, inputs: list[np.ndarray], message: str, open_device: OpenDevice, signatures: bytes
) -> None:
    program = open_device("local-sync").load(signatures)
    with pytest.raises(DriverError) as caught:
        program.call(function, inputs, no_check)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5])
def test_bytes_that_are_no_module_are_refused(part: float, open_device: OpenDevice, arithmetic: bytes) -> None:
    with pytest.raises(DriverError, match=r"^this is not a module that the IREE runtime \S+ can load: ") as caught:
        open_device("local-sync").load(arithmetic[: int(len(arithmetic) * part)])
    assert caught.value.hint == "the artifact is damaged, or from another version of the compiler; compile it again"
    assert ".c:" not in str(caught.value)


def test_a_closed_device_reports_it(open_device: OpenDevice, arithmetic: bytes) -> None:
    device = open_device("local-sync")
    device.close()
    with pytest.raises(DriverError, match="the device is closed"):
        device.load(arithmetic)


@pytest.mark.needs_vulkan
def test_a_module_for_another_device_is_refused_when_loaded(vulkan_device: Device, arithmetic: bytes) -> None:
    with pytest.raises(DriverError, match=r"^INCOMPATIBLE; HAL device `__device_0` not found") as caught:
        vulkan_device.load(arithmetic)
    assert "the module holds no code for this device" in caught.value.hint
