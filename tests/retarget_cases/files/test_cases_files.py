"""Cases files: what is an error of them without knowing the module, with its line and key."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retarget.support import DiagnosticsError
from retarget_cases.files.read import CasesFile, default_generator, read_cases_file

CASE = "[[case]]\n"
JUDGED = "expected = [1]\n"


def parse(folder: Path, text: str) -> CasesFile:
    path = folder / "m.cases.toml"
    path.write_text(text)
    return read_cases_file(path, folder)


def diagnostics(folder: Path, text: str) -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        parse(folder, text)
    return [str(diagnostic).removeprefix("suite/m.cases.toml") for diagnostic in caught.value.diagnostics]


FORMS = "values, npy, npz, pb, bin, fill, iota, random"
KEYS = "agree_with, expected, function, inputs, name, reference, tolerance"
CANNOT_FAIL = "a case that cannot fail tests nothing"

BAD_FILES = {
    "nothing at all": ("", ": case: found no such key, expected a non-empty array of tables"),
    "no case": ("case = []\n", ":1: case: found an empty array, expected a non-empty array of tables"),
    "an unknown key": (
        CASE + JUDGED + "functoin = 'f'\n",
        f":3: case[0].functoin: found the unknown key 'functoin', expected one of {KEYS}; did you mean 'function'?",
    ),
    "an unknown key of the file": (
        "agree_with = 'a'\n" + CASE + JUDGED,
        ":1: agree_with: found the unknown key 'agree_with', expected one of case, parameters, tolerance",
    ),
    "no expected value": (
        CASE + "expected = []\n",
        f":2: case[0].expected: found an empty array, expected one value per result: {CANNOT_FAIL}",
    ),
    "two things to compare with": (
        CASE + JUDGED + "agree_with = 'vmvx'\n",
        ":3: case[0].agree_with: found it beside expected, expected one of them",
    ),
    "a name of two lines": (
        CASE + 'name = "a\\nb"\n' + JUDGED,
        ":2: case[0].name: found 'a\\nb', expected printable text",
    ),
    "a name used twice": (
        (CASE + "name = 'a'\n" + JUDGED) * 2,
        ":5: case[1].name: found 'a', which case[0] is named already; expected another name",
    ),
    "inputs that are no array": (
        CASE + JUDGED + "inputs = 1\n",
        ":3: case[0].inputs: found the integer 1, expected an array of values",
    ),
    "text that is no number": (
        CASE + "inputs = [['0x1p-3', '1-2 j', 'nan', '1_000', '0b1', '1e999', 'one']]\n" + JUDGED,
        ":2: case[0].inputs[0][6]: found the string 'one', expected a number as text",
    ),
    "a file within an array": (
        CASE + "inputs = [['good.npy']]\n" + JUDGED,
        ":2: case[0].inputs[0][0]: found the string 'good.npy', expected a number as text; a file is a whole value",
    ),
    "a filling that is no number": (
        CASE + "inputs = [{ fill = 'abc' }]\n" + JUDGED,
        ":2: case[0].inputs[0].fill: found the string 'abc', expected a number as text",
    ),
    "more sizes than an array has": (
        CASE + f"inputs = [{{ fill = 1, shape = {[1] * 65} }}]\n" + JUDGED,
        ":2: case[0].inputs[0].shape: found 65 sizes, expected at most 64",
    ),
    "a range wider than any number": (
        CASE + "inputs = [{ random = 'uniform', low = -1e308, high = 1e308 }]\n" + JUDGED,
        ":2: case[0].inputs[0].low: found -1e+308 to 1e+308, expected a range of at most 1.79e308",
    ),
    "tolerance of a type that is none": (
        CASE + JUDGED + "tolerance.f31 = { atol = 1 }\n",
        ":3: case[0].tolerance.f31: found the unknown key 'f31', expected atol, rtol, ulp, nan or an element type, such as float32 or f32; did you mean 'f32'?",
    ),
    "tolerance that is no table": (
        "tolerance.f32 = 1\n" + CASE + JUDGED,
        ":1: tolerance.f32: found the integer 1, expected a table, as in f32 = { atol = 1e-5, rtol = 1e-5 }",
    ),
    "negative tolerance": (
        "tolerance.float16 = { atol = -1 }\n" + CASE + JUDGED,
        ":1: tolerance.float16.atol: found the integer -1, expected a number of at least 0",
    ),
    "tolerance of a type twice": (
        "tolerance.f16 = { ulp = 1 }\ntolerance.float16 = { ulp = 2 }\n" + CASE + JUDGED,
        ":2: tolerance.float16: found 'float16' beside 'f16', which is the same type; expected one of them",
    ),
    "infinite tolerance": (
        "tolerance.rtol = inf\n" + CASE + JUDGED,
        ":1: tolerance.rtol: found the number inf, expected a finite number of at least 0",
    ),
    "NaN neither equal nor never": (
        "tolerance.nan = 'yes'\n" + CASE + JUDGED,
        ":1: tolerance.nan: found the string 'yes', expected 'equal' or 'never'",
    ),
    "an unknown key of tolerance": (
        "tolerance.bf16 = { nam = 'equal' }\n" + CASE + JUDGED,
        ":1: tolerance.bf16.nam: found the unknown key 'nam', expected one of atol, nan, rtol, ulp; did you mean 'nan'?",
    ),
    "parameters that are not there": (
        "parameters = { model = 'w.irpa' }\n" + CASE + JUDGED,
        ":1: parameters.model: data file suite/w.irpa does not exist",
    ),
    "parameters of another sort": (
        "parameters = { model = 'good.npy' }\n" + CASE + JUDGED,
        ":1: parameters.model: found the path 'good.npy', expected one that ends with .irpa or .gguf or .safetensors",
    ),
    "a reference without a function": (
        CASE + "reference = 'ref.py'\n",
        ":2: case[0].reference: found 'ref.py', expected a Python file and a function of it, as in 'ref.py:matmul'",
    ),
    "a reference that is not there": (
        CASE + "reference = 'fer.py:f'\n",
        ":2: case[0].reference: data file suite/fer.py does not exist; did you mean 'ref.py'?",
    ),
    "an agreement with nobody": (
        CASE + "agree_with = ''\n",
        ":2: case[0].agree_with: found '', expected the name of a compiler config",
    ),
    "an agreement with a number": (
        CASE + "agree_with = { a = 3, '*' = 'b' }\n",
        ":2: case[0].agree_with.a: found the integer 3, expected the name of a compiler config",
    ),
    "an empty agreement": (
        CASE + "agree_with = {}\n",
        ":2: case[0].agree_with: found an empty table, expected the name of a compiler config",
    ),
    "an agreement that is no name": (
        CASE + "agree_with = 1\n",
        ":2: case[0].agree_with: found the integer 1, expected a string or a table of values",
    ),
}

BAD_VALUES = {
    "numbers beside arrays": ("[1, [2]]", "[1]: found an array beside the integer 1, expected only arrays or none"),
    "rows of unequal lengths": ("[[1], [2, 3]]", "[1]: found 2 entries, expected 1, like the first"),
    "a date": ("[1979-05-27]", "[0]: found the date or time 1979-05-27, expected a number, true, false or an array of them"),
    "a table in an array": ("[{}]", "[0]: found an empty table, expected a number, true, false or an array of them"),
    "a path of no data file": ("'good.np'", ": found the string 'good.np', expected a path that ends with .npy, .npz, .pb or .bin; a number as text is { values = '…' }"),
    "a missing file": ("'god.npy'", ": data file suite/god.npy does not exist; did you mean 'good.npy'?"),
    "a folder": ("{ bin = 'folder.bin' }", ": data file suite/folder.bin is no regular file"),
    "another file than its key says": ("{ npz = 'good.npy' }", ": found the path 'good.npy', expected one that ends with .npz"),
    "a path that is no text": ("{ bin = 1 }", ".bin: found the integer 1, expected a string"),
    "a table of nothing": ("{}", f": found a table of nothing, expected one of {FORMS}"),
    "a table of something else": ("{ randm = 'normal' }", f": found a table of randm, expected one of {FORMS}; did you mean 'random'?"),
    "two forms in one": ("{ fill = 1, iota = 2 }", f": found both fill and iota, expected one of {FORMS}"),
    "an unknown distribution": ("{ random = 'uniforn' }", ".random: found the string 'uniforn', expected one of normal, uniform, integers; did you mean 'uniform'?"),
    "a distribution that is no name": ("{ random = 1 }", ".random: found the integer 1, expected one of normal, uniform, integers"),
    "an unknown key of a distribution": ("{ random = 'normal', mu = 1 }", ".mu: found the unknown key 'mu', expected one of dtype, mean, random, seed, shape, std"),
    "a negative deviation": ("{ random = 'normal', std = -1 }", ".std: found the integer -1, expected a number of at least 0"),
    "no integer between": ("{ random = 'integers', low = 1, high = 1 }", ".low: found 1, expected less than high, 1, which is not included"),
    "integers without bounds": ("{ random = 'integers', high = 1 }", ".low: found no such key, expected an integer"),
    "bounds the wrong way round": ("{ random = 'uniform', low = 2, high = 1 }", ".low: found 2, expected at most high, 1"),
    "an unknown element type": ("{ fill = 1, dtype = 'f31' }", ".dtype: found 'f31', expected an element type, such as float32 or f32; did you mean 'f32'?"),
    "a negative size": ("{ fill = 1, shape = [-1] }", ".shape[0]: found the integer -1, expected an integer of at least 0"),
    "a filling of tables": ("{ fill = { a = 1 } }", ".fill: found a table, expected a number, true, false or an array of them"),
    "a start that is no number": ("{ iota = true }", ".iota: found the boolean true, expected an integer or a number"),
}  # fmt: skip


@pytest.fixture
def data(folder: Path) -> Path:
    np.save(folder / "good.npy", np.ones((2, 2), np.float32))
    (folder / "ref.py").write_text("def f(x):\n    return x\n")
    (folder / "folder.bin").mkdir()
    return folder


@pytest.mark.parametrize("name", BAD_FILES)
def test_an_invalid_file_is_reported_with_line_and_key(data: Path, name: str) -> None:
    text, message = BAD_FILES[name]
    assert diagnostics(data, text) == [message]


@pytest.mark.parametrize("key", ["inputs", "expected"])
@pytest.mark.parametrize("name", BAD_VALUES)
def test_an_invalid_value_is_reported_with_line_and_key(data: Path, name: str, key: str) -> None:
    written, message = BAD_VALUES[name]
    other = "reference = 'ref.py:f'" if key == "inputs" else "inputs = []"
    text = f"[[case]]\n{other}\n{key} = [\n    7,\n    {written},\n]\n"
    assert diagnostics(data, text) == [f":5: case[0].{key}[1]{message}"]


def test_all_errors_of_a_file_come_together_in_order(data: Path) -> None:
    text = "tolerance.nan = 1\n" + CASE + "inputs = ['none.npy', [1, [2]]]\n" + CASE + "expect = [1]\nexpected = [2]\n"
    assert diagnostics(data, text) == [
        ":1: tolerance.nan: found the integer 1, expected 'equal' or 'never'",
        ":3: case[0].inputs[0]: data file suite/none.npy does not exist; did you mean 'good.npy'?",
        ":3: case[0].inputs[1][1]: found an array beside the integer 1, expected only arrays or none",
        f":5: case[1].expect: found the unknown key 'expect', expected one of {KEYS}; did you mean 'expected'?",
    ]


def test_a_file_of_several_gigabytes_is_refused_with_the_limit_unless_it_is_mapped(data: Path) -> None:
    for name in ("x.bin", "w.irpa"):
        (data / name).touch()
        os.truncate(data / name, 3 << 30)
    text = "parameters = { model = 'w.irpa' }\n[[case]]\ninputs = ['x.bin']\nreference = 'ref.py:f'\n"
    assert diagnostics(data, text) == [
        ":3: case[0].inputs[0]: data file suite/x.bin has 3221225472 bytes, over the limit of 1073741824; "
        "to read it, set the environment variable RETARGET_MAX_DATA_BYTES to 3221225472 or more"
    ]


def test_a_glob_of_a_config_that_agrees_is_bounded(data: Path) -> None:
    (found,) = diagnostics(data, CASE + f"agree_with = {{ '{'*a' * 600}' = 'b' }}\n")
    expected = "expected the name of a compiler config, or a glob of at most 1000"
    assert found.endswith(f"agree_with: found a key of 1200 characters, {expected}")


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("bool", ("integers", 0, 2)),
        ("int4", ("integers", 0, 2)),
        ("uint64", ("integers", 0, 2)),
        ("float32", ("uniform", -1.0, 1.0)),
        ("complex64", ("uniform", -1.0, 1.0)),
        ("float8_e8m0fnu", ("uniform", 1.0, 4.0)),
    ],
)
def test_inputs_of_which_nothing_is_said_are_small_numbers_of_their_type(dtype: str, values: object) -> None:
    found: Any = default_generator(dtype)
    assert (found.random, found.low, found.high) == values
