"""The case loader: which modules have cases, what they are called, what each needs, and what fails one alone."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cases_support import function, load, read
from model_targets import compile_target
from msgspec.structs import replace
from retarget.extension import CaseRequest, Tolerance
from retarget.model import Module, Origin, Suite
from retarget.support import DiagnosticsError, RetargetError
from retarget_cases.loader import CasesLoader

PLAIN = "[[case]]\nexpected = [1]\n"
F = function("f", ["tensor<2xf32>"], ["tensor<2xf32>"])


def module(path: Path) -> Module:
    return Module(name="m", path=path.with_name("m.mlir"), data=(path,))


def write(folder: Path, text: str) -> Path:
    path = folder / "m.cases.toml"
    path.write_text(text)
    return path


def diagnostics(folder: Path, *names: str) -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        CasesLoader().find_modules(folder, [folder / name for name in names])
    return [str(diagnostic) for diagnostic in caught.value.diagnostics]


# ---------------------------------------------------------------- modules


def test_a_module_has_the_cases_beside_it(folder: Path) -> None:
    (folder / "sub").mkdir()
    srcs = [folder / "b.mlir", folder / "sub/a.b.mlirbc", folder / "c.onnx"]
    for source in srcs:
        source.touch()
        source.with_name(source.stem + ".cases.toml").write_text(PLAIN)
    found = CasesLoader().find_modules(folder, [*srcs, folder / "b.cases.toml"])
    assert list(found) == [
        Module(name="b", path=srcs[0], data=(folder / "b.cases.toml",)),
        Module(name="sub/a.b", path=srcs[1], data=(folder / "sub/a.b.cases.toml",)),
        Module(name="c", path=srcs[2], data=(folder / "c.cases.toml",)),
    ]


def test_modules_and_cases_without_each_other_are_errors_as_are_those_in_the_files(folder: Path) -> None:
    for name in ("add.mlir", "sub.mlir", "broken.mlir"):
        (folder / name).touch()
    for name in ("ad.cases.toml", "sub.cases.toml"):
        (folder / name).write_text(PLAIN)
    (folder / "broken.cases.toml").write_text("[[case]]\nexpected = []\n")
    assert diagnostics(folder, "add.mlir", "sub.mlir", "broken.mlir") == [
        "suite/ad.cases.toml: found cases without a module, expected ad.mlir or ad.mlirbc or ad.onnx beside it; "
        "did you mean 'add'?",
        "suite/broken.cases.toml:2: case[0].expected: found an empty array, expected one value per result: a case that "
        "cannot fail tests nothing",
    ]


def test_a_module_without_cases_is_an_error_of_its_own_targets(folder: Path) -> None:
    (folder / "add.mlir").touch()
    (folder / "sub.mlir").touch()
    (folder / "sub.cases.toml").write_text(PLAIN)
    loader = CasesLoader()
    found = loader.find_modules(folder, [folder / "add.mlir", folder / "sub.mlir"])
    assert [(module.name, len(module.data)) for module in found] == [("add", 0), ("sub", 1)]
    message = "suite/add.mlir: found no cases file 'add.cases.toml' beside the module, expected one"
    message += "; did you mean 'sub.cases.toml'?"
    with pytest.raises(RetargetError) as caught:
        loader.load(CaseRequest(module="add", source=folder / "add.mlir", folder=folder, compiler="cc"))
    assert str(caught.value) == message
    suite = Suite(
        name="s", folder=folder, modules=found, kind="cases", targets=(), origin=Origin(file=folder, key_path="")
    )
    assert [str(one) for one in loader.data_diagnostics(found[0], suite)] == [message]


def test_what_is_no_file_of_the_suite_is_no_cases_file(folder: Path) -> None:
    (folder.parent / "out.cases.toml").write_text(PLAIN)
    for name in ("folder", "loop", "out"):
        (folder / f"{name}.mlir").touch()
    (folder / "folder.cases.toml").mkdir()
    (folder / "loop.cases.toml").symlink_to("loop.cases.toml")
    (folder / "out.cases.toml").symlink_to(folder.parent / "out.cases.toml")
    assert diagnostics(folder, "folder.mlir", "loop.mlir", "out.mlir") == [
        "suite/folder.cases.toml: found no regular file, expected the cases of the module beside it",
        "suite/loop.cases.toml: found no regular file, expected the cases of the module beside it",
        f"suite/out.cases.toml: found a link to '{folder.parent / 'out.cases.toml'}', "
        "expected a file in the suite's folder: copy it there",
    ]


# ---------------------------------------------------------------- configs to agree with


def test_a_config_that_no_rule_names_is_an_error(folder: Path) -> None:
    path = write(folder, "[[case]]\nagree_with = { a = 'b' }\n")
    with pytest.raises(DiagnosticsError) as caught:
        CasesLoader().references(module(path), folder, "cc")
    assert str(caught.value) == (
        "suite/m.cases.toml:2: case[0].agree_with: found nothing to agree with for compiler config 'cc', "
        "expected one of a to match it; '*' matches every config"
    )


def test_cases_of_which_nothing_is_said_agree_as_the_suite_says(folder: Path) -> None:
    text = "[[case]]\ninputs = [[1, 2]]\n[[case]]\nexpected = [[1, 2]]\ninputs = [[1, 2]]\n[[case]]\nagree_with = 'a'\n"
    path = write(folder, text)
    loader = CasesLoader()
    assert loader.references(module(path), folder, "cc") == ("", "a")
    target = compile_target("m", "cc", kind="cases", folder=folder)
    for agree, wanted in {"majority": ["majority", "a"], "": ["a"], "a": ["a"], "cc": ["a"]}.items():
        assert loader.agreed(replace(target, module=module(path), agree=agree)) == wanted
    request = CaseRequest(
        module="m", source=folder / "m.mlir", data=(path,), folder=folder, compiler="cc", functions=(F,), agree="b"
    )
    assert [case.agree_with for case in loader.load(request)] == ["b", "", "a"]
    with pytest.raises(
        DiagnosticsError, match=r"case\[0\]: found nothing to compare the results with, expected one of "
    ):
        read(load(folder, text, F)[0])


# ---------------------------------------------------------------- names and functions


def test_names_are_those_of_the_functions_made_unique(folder: Path) -> None:
    text = (
        "[[case]]\nfunction = 'g'\nagree_with = 'x'\n" * 2
        + "[[case]]\nname = 'g-2'\nfunction = 'g'\nagree_with = 'x'\n"
        + "[[case]]\nfunction = 'f'\nagree_with = 'x'\n"
    )
    assert [case.name for case in load(folder, text, F, function("g"))] == ["g", "g-3", "g-2", "f"]
    assert [case.name for case in load(folder, "[[case]]\nagree_with = 'x'\n" * 2, F)] == ["f", "f-2"]


def test_an_unknown_function_lists_those_there_are_and_fails_its_case_only(folder: Path) -> None:
    text = (
        "[[case]]\nfunction = 'ff'\nexpected = [1]\n"
        + "[[case]]\nexpected = [1]\n"
        + "[[case]]\nfunction = 'f'\ninputs = [[1, 2]]\nexpected = [[1, 2]]\n"
    )
    first, second, third = load(folder, text, F, function("g"))
    with pytest.raises(DiagnosticsError) as caught:
        read(first)
    assert str(caught.value) == (
        "suite/m.cases.toml:2: case[0].function: found the function 'ff', expected one that the module exports: f, g; "
        "did you mean 'f'?"
    )
    with pytest.raises(DiagnosticsError) as caught:
        read(second)
    assert str(caught.value) == (
        "suite/m.cases.toml:4: case[1]: found no function, expected one of those that the module exports: f, g"
    )
    assert len(read(third).inputs) == 1


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("inputs = []", ":2: case[0].inputs: found 0 values, f takes 1 argument (tensor<2xf32>)"),
        (
            "inputs = [1, 2]",
            ":2: case[0].inputs: found 2 values, f takes 1 argument (tensor<2xf32>); did you mean inputs = [[…]]?",
        ),
        (
            "inputs = [1, { values = [1, 2] }]",
            ":2: case[0].inputs: found 2 values, f takes 1 argument (tensor<2xf32>)",
        ),
        (
            "inputs = [[1, 2]]\nexpected = [1, 2]",
            ":3: case[0].expected: found 2 values, f returns 1 result (tensor<2xf32>); did you mean expected = [[…]]?",
        ),
        ("inputs = [[1, 2]]\nexpected = [[1]]", ":3: case[0].expected[0]: result 0 of f: found 1xf32, expected tensor<2xf32>"),
    ],
)  # fmt: skip
def test_as_many_values_as_the_function_declares(folder: Path, written: str, message: str) -> None:
    text = f"[[case]]\n{written}\n" + ("" if "expected" in written else "expected = [[1, 2]]\n")
    (case,) = load(folder, text, F)
    with pytest.raises(DiagnosticsError) as caught:
        read(case)
    assert str(caught.value) == f"suite/m.cases.toml{message}"


# ---------------------------------------------------------------- tolerances and parameters


def test_tolerances_of_the_case_win_over_those_of_the_file_and_these_over_the_defaults(folder: Path) -> None:
    text = (
        "tolerance = { rtol = 1e-3, i8 = { atol = 1 } }\n"
        "[[case]]\nexpected = [1]\n"
        "[[case]]\nexpected = [1]\ntolerance = { f32 = { ulp = 4 }, float64.nan = 'never' }\n"
    )
    first, second = load(folder, text, F)
    assert first.tolerances["float32"] == Tolerance(rtol=1e-3)
    assert first.tolerances["complex64"] == Tolerance(rtol=1e-3)
    assert first.tolerances["int8"] == Tolerance(atol=1)
    assert first.tolerances["int32"] == first.tolerances[""] == first.tolerances["bool"] == Tolerance()
    assert second.tolerances["float32"] == Tolerance(ulp=4)
    assert second.tolerances["float64"] == Tolerance(rtol=1e-3, equal_nan=False)
    (plain,) = load(folder, PLAIN, F)
    assert plain.tolerances["float32"] == Tolerance(atol=1e-5, rtol=1e-5)
    assert plain.tolerances["float8_e4m3fn"] == Tolerance(ulp=1)
    assert plain.tolerances["float8_e8m0fnu"] == Tolerance()


def test_parameters_are_archives_by_scope(folder: Path) -> None:
    (folder / "w.irpa").write_bytes(b"x")
    path = write(folder, "parameters = { model = 'w.irpa' }\n" + PLAIN)
    request = CaseRequest(module="m", source=folder / "m.mlir", data=(path,), folder=folder, compiler="cc")
    assert list(CasesLoader().parameters(request)) == [("model", folder / "w.irpa")]


# ---------------------------------------------------------------- references

REFERENCE = """\
import dataclasses

@dataclasses.dataclass
class Pair:
    first: object

def twice(x):
    return Pair(x + x).first

def boom(x):
    scale = 2
    return helper(x * scale)

def helper(x):
    raise ValueError("no such shape")

def deep(x):
    import json
    return json.loads("{")

def leave(x):
    raise SystemExit(3)

def none(x):
    pass

def wide(x):
    return x.astype("f8")

def long(x):
    return x[:1]

def two(x):
    return x, x

def change(x):
    x[0] = 1
    return x

def number(x):
    return 2.5

def text(x):
    return "hi"

constant = 1
"""


def reference(folder: Path, name: str, *, file: str = "ref.py") -> str:
    (folder / "ref.py").write_text(REFERENCE)
    (case,) = load(folder, f"[[case]]\ninputs = [[1, 2]]\nreference = '{file}:{name}'\n", F)
    with pytest.raises(DiagnosticsError) as caught:
        read(case)
    return str(caught.value).removeprefix("suite/m.cases.toml:3: case[0].reference: ")


def test_a_reference_leaves_the_current_folder_as_it_was(folder: Path) -> None:
    (folder / "ref.py").write_text("import os\ndef f(x):\n    os.chdir('/')\n    return x\n")
    (case,) = load(folder, "[[case]]\ninputs = [[1, 2]]\nreference = 'ref.py:f'\n", F)
    read(case)
    assert Path.cwd() == folder.parent


def test_a_reference_of_a_function_without_results_has_nothing_to_compare(folder: Path) -> None:
    (folder / "ref.py").write_text("def f(x):\n    return ()\n")
    (case,) = load(
        folder, "[[case]]\ninputs = [[1, 2]]\nreference = 'ref.py:f'\n", function("f", ["tensor<2xf32>"], [])
    )
    with pytest.raises(RetargetError, match=r"f returns nothing to compare; .* a case that cannot fail tests nothing"):
        read(case)


def test_a_reference_may_return_any_byte_order(folder: Path) -> None:
    (folder / "ref.py").write_text("def f(x):\n    return x.astype('>f4')\n")
    (case,) = load(folder, "[[case]]\ninputs = [[1, 2]]\nreference = 'ref.py:f'\n", F)
    (expected,) = read(case).expected or ()
    assert expected.tolist() == [1, 2]
    assert expected.dtype == np.float32


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            "[1.0, 2.0]",
            "ref.py:f returned 2 results, f returns 1 (tensor<2xf32>); a list or tuple holds a result per entry, "
            "numpy.array(…) makes one result of it",
        ),
        (
            "np.ma.array(x, mask=[True, False])",
            "result 0 of ref.py:f: found MaskedArray, expected a NumPy array (tensor<2xf32>)",
        ),
    ],
)
def test_what_a_reference_returns_is_not_guessed(folder: Path, returned: str, message: str) -> None:
    (folder / "ref.py").write_text(f"import numpy as np\ndef f(x):\n    return {returned}\n")
    (case,) = load(folder, "[[case]]\ninputs = [[1, 2]]\nreference = 'ref.py:f'\n", F)
    with pytest.raises(DiagnosticsError) as caught:
        read(case)
    assert str(caught.value) == f"suite/m.cases.toml:3: case[0].reference: {message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("boom", 'suite/ref.py:15: boom raised ValueError: no such shape\n    raise ValueError("no such shape")'),
        ("leave", "suite/ref.py:22: leave raised SystemExit: 3\n    raise SystemExit(3)"),
        ("none", "none of suite/ref.py returned None, expected an array, or a tuple of one per result"),
        ("wide", "result 0 of ref.py:wide: found 2xf64, expected tensor<2xf32>"),
        ("long", "result 0 of ref.py:long: found 1xf32, expected tensor<2xf32>"),
        ("number", "result 0 of ref.py:number: found f32, expected tensor<2xf32>"),
        ("text", "result 0 of ref.py:text: found str, expected a NumPy array (tensor<2xf32>)"),
        ("two", "ref.py:two returned 2 results, f returns 1 (tensor<2xf32>)"),
        ("change", "suite/ref.py:37: change raised ValueError: assignment destination is read-only\n    x[0] = 1"),
        (
            "constant",
            "suite/ref.py has no function 'constant'; it has: Pair, boom, change, deep, helper, leave, long, none, "
            "number, text, twice, two, wide",
        ),
    ],
)
def test_a_reference_that_fails_is_reported_with_its_location(folder: Path, name: str, message: str) -> None:
    assert reference(folder, name) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef f(:\n", "suite/bad.py:2: importing it raised SyntaxError: invalid syntax\n    def f(:"),
        ("raise RuntimeError('no')\n", "suite/bad.py:1: importing it raised RuntimeError: no\n    raise RuntimeError('no')"),
        ("import nothing_of_that_name\n", "suite/bad.py:1: importing it raised ModuleNotFoundError: No module named "
         "'nothing_of_that_name'\n    import nothing_of_that_name"),
    ],
)  # fmt: skip
def test_a_reference_that_cannot_be_imported_is_reported_with_its_location(
    folder: Path, text: str, message: str
) -> None:
    (folder / "bad.py").write_text(text)
    assert reference(folder, "f", file="bad.py") == message
