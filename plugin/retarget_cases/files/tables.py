"""What may be written in a cases file, as pydantic models. docs/cases.md follows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from retarget.model import ELEMENT_TYPES
from retarget.session import model_schema, schema_problems
from retarget.support import KeyPath, Problem

_Number = Annotated[float, Field(allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Size = Annotated[int, Field(ge=0)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_TableT = TypeVar("_TableT", bound=_Table)


def read_table(
    model: type[_TableT], written: Mapping[str, object], key_path: KeyPath, problems: list[Problem]
) -> _TableT | None:
    """Return a table that is checked by its model; what is wrong with it goes to `problems`, and None returns."""
    try:
        return model.model_validate(written)
    except ValidationError as error:
        found = schema_problems(error, written, model=model)
        problems.extend(Problem((*key_path, *problem.path), problem.message) for problem in found)
        return None


class ToleranceTable(_Table):
    """How near results must be. An element holds if |actual - expected| <= atol + rtol * |expected|, or by `ulp`."""

    atol: _NotNegative | None = Field(default=None, description="Absolute error, in the units of the values.")
    rtol: _NotNegative | None = Field(default=None, description="Relative error, as a ratio to the expected value.")
    ulp: _Size | None = Field(default=None, description="Representable values of the element type in between.")
    nan: Literal["equal", "never"] | None = Field(default=None, description="Whether a NaN holds for a NaN.")


class CaseTable(_Table):
    """One call of a function and what it must return."""

    name: str | None = Field(default=None, description="Default: the function's name, made unique.")
    function: str | None = Field(default=None, description="Default: the module's only function.")
    inputs: list[Any] = Field(default=[], description="One value per argument.")
    expected: list[Any] | None = Field(default=None, description="One value per result.")
    reference: str | None = Field(default=None, description="A function that computes what is expected with NumPy.")
    agree_with: str | dict[str, Any] | None = Field(
        default=None, description="The compiler config to agree with, or majority."
    )
    tolerance: dict[str, Any] = Field(default={}, description="As at the top of the file, for this case.")


class CasesFileTable(_Table):
    """The cases of one module."""

    parameters: dict[str, str] = Field(default={}, description="Parameter archives by scope.")
    tolerance: dict[str, Any] = Field(default={}, description="Tolerances, of all floating types or by element type.")
    case: list[CaseTable] = Field(min_length=1, description="What to call.")


class ModelCaseTable(CaseTable):
    """One call of an ONNX model (kind `onnx`)."""

    inputs: list[Any] | dict[str, Any] = Field(  # type: ignore[assignment]  # what is left out is generated
        default=[], description="One value per input in order, or by name; what is left out is generated."
    )
    sizes: dict[str, _Size] = Field(default={}, description="As at the top of the file, for this case.")
    generate: dict[str, Any] = Field(default={}, description="As at the top of the file, for this case.")


class ModelFileTable(CasesFileTable):
    """The cases of one ONNX model (kind `onnx`)."""

    model: str | None = Field(default=None, description="The model, relative to this file. Default: the one beside it.")
    install: str = Field(default="", description="The command that brings the model, where it may be missing.")
    sizes: dict[str, _Size] = Field(default={}, description="The model's dynamic sizes by name.")
    generate: dict[str, Any] = Field(default={}, description="Generators of inputs by element type.")
    case: list[ModelCaseTable] = Field(default=[], description="What to call.")  # type: ignore[assignment]


# ---------------------------------------------------------------- values


class ValueTable(_Table):
    """What all values that are written as a table have in common."""

    shape: list[_Size] | None = Field(default=None, description="Where the function's type does not say it.")
    dtype: str | None = Field(default=None, description="Where the function's type does not say it.")


class ValuesTable(ValueTable):
    """A literal, nested or in row-major order."""

    values: Any


class NpyTable(ValueTable):
    """A file that `numpy.save` wrote."""

    npy: str


class NpzTable(ValueTable):
    """One array of a file that `numpy.savez` wrote."""

    npz: str
    array: str = ""


class PbTable(ValueTable):
    """A tensor as ONNX writes it to a file (`TensorProto`)."""

    pb: str


class BinTable(ValueTable):
    """Raw little-endian elements in row-major order."""

    bin: str


class FillTable(ValueTable):
    """One value everywhere."""

    fill: Any


class IotaTable(ValueTable):
    """Numbers that count up in row-major order."""

    iota: int | _Number
    step: int | _Number = 1


class NormalTable(ValueTable):
    """Normally distributed numbers."""

    random: Literal["normal"]
    mean: _Number = 0.0
    std: _NotNegative = 1.0
    seed: _Size | None = None


class UniformTable(ValueTable):
    """Numbers from `low` up to, not including, `high`."""

    random: Literal["uniform"]
    low: _Number = 0.0
    high: _Number = 1.0
    seed: _Size | None = None


class IntegersTable(ValueTable):
    """Whole numbers from `low` up to, not including, `high`."""

    random: Literal["integers"]
    low: int
    high: int
    seed: _Size | None = None


FORMS: Mapping[str, type[ValueTable]] = {
    "values": ValuesTable,
    "npy": NpyTable,
    "npz": NpzTable,
    "pb": PbTable,
    "bin": BinTable,
    "fill": FillTable,
    "iota": IotaTable,
}
"""The tables of values, by the key that they have and no other has."""
DISTRIBUTIONS: Mapping[str, type[ValueTable]] = {
    "normal": NormalTable,
    "uniform": UniformTable,
    "integers": IntegersTable,
}
"""The tables of random values, by what `random` says."""


DTYPE_NAMES = tuple(dict.fromkeys(element.dtype for element in ELEMENT_TYPES.values()))
TYPE_NAMES = sorted({*DTYPE_NAMES, *ELEMENT_TYPES})
"""How element types may be written: `float32`, `f32`."""


def element_dtype(name: str) -> str | None:
    """Return the NumPy name of an element type that is written either way; None for no such type."""
    known = ELEMENT_TYPES.get(name)
    return known.dtype if known is not None else name if name in DTYPE_NAMES else None


def cases_schema(*, of_model: bool = False) -> Mapping[str, object]:
    """Return the JSON Schema of a cases file, `of_model` of one of an ONNX model: keys and their types."""
    return model_schema(ModelFileTable if of_model else CasesFileTable)
