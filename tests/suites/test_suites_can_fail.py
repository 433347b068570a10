"""A check that cannot fail is worthless: with one expected number altered, every check of a module must fail.

Each module is compiled twice with the real compiler and run on local-sync: as it is, where all checks hold, and with
one number of every check altered, where none may.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from retarget.arrays.comparison import compare_check
from retarget.extension import CaseRequest, Check, CompileRequest, FunctionInfo
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget_iree.checks import CheckCaseLoader
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.runtime.drivers import DRIVERS

SUITES = Path(__file__).resolve().parents[2] / "suites"
ORIGIN = Origin(file=Path("matrix.toml"), key_path="test[0]")
FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx")
EXPECTED = re.compile(r"(check\.expect_(?:almost_)?eq_const\([^,]*, dense<[\s\[]*)([^,\]>\s]+)")


def altered(text: str) -> str:
    """Alter the first number of every expected constant by more than any tolerance in use."""

    def alter(found: re.Match[str]) -> str:
        number = found.group(2)
        if number in {"true", "false"}:
            other = "false" if number == "true" else "true"
        elif number.startswith("0x"):
            other = "12345.0"
        elif re.fullmatch(r"-?\d+", number):
            other = str(int(number) + 1 if int(number) < 100 else int(number) - 1)
        else:
            other = str(float(number) + 0.5)
        return found.group(1) + other

    return EXPECTED.sub(alter, text)


def request_for(path: Path, functions: Sequence[FunctionInfo]) -> CaseRequest:
    """Ask for the cases of a check module."""
    return CaseRequest(module=path.stem, source=path, folder=path.parent, compiler="vmvx", functions=tuple(functions))


def verdicts(text: str, path: Path) -> list[bool]:
    """Compile and run a module; report whether each of its checks held."""
    compiler = IreeCompiler()
    config = CompilerConfig(name="vmvx", compiler="iree", flags=FLAGS, origin=ORIGIN)
    request = CompileRequest(
        source=text.encode(), source_name=path.name, source_path=path, resolved=compiler.resolve(config, FLAGS)
    )
    artifact = compiler.compile(request).artifact
    driver = next(driver for driver in DRIVERS if driver.name == "local-sync")
    device = driver.open(RuntimeConfig(name="local-sync", driver="local-sync", origin=ORIGIN))
    checks: list[Check] = []
    try:
        program = device.load(artifact)
        for case in CheckCaseLoader().load(request_for(path, program.functions)):
            program.call(case.function, case.inputs, checks.append)
        return [compare_check(check) is None for check in checks]
    finally:
        device.close()


@pytest.mark.sampled(4, slow=4)
@pytest.mark.parametrize(
    "name",
    [
        "linalg/special-values",
        "integer/logic-i1",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "linalg/matmul",
                "dynamic/rowwise",
                "control-flow/while",
                "state/tensor-global",
                "quantised/conv2d-i8",
                "torch-onnx/softmax-reduce",
            )
        ),
    ],
)
@pytest.mark.slow
def test_every_check_of_a_module_fails_when_one_of_its_expected_numbers_is_altered(name: str) -> None:
    path = SUITES / f"{name}.mlir"
    text = path.read_text(encoding="utf-8")
    held = verdicts(text, path)
    assert held
    assert all(held)
    assert verdicts(altered(text), path) == [False] * len(held)
