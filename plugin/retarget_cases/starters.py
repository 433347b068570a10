"""The files that `retarget init` writes for modules whose functions take arguments: suites of those that have cases or
data sets, and starter cases with generated inputs for the others.

What such a module should return is not known, so the results of the compiler configs are compared with each other. Its
functions are those that its source declares; nothing is compiled. MLIR is read as text, as far as function headers go:
`func.func` and `util.func` in their usual form. An ONNX model has one function, its graph, whose arguments are the
inputs that are no initializers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import FunctionInfo, ModulesRequest, SuggestedSuite, Suggestions
from retarget.model import MAJORITY, DeclaredType, brackets, split_types
from retarget.support import DiagnosticsError, RetargetError, install_hint

from retarget_cases.files import SUFFIX, cases_file_of, data_sets
from retarget_cases.files.read import read_cases_file
from retarget_cases.onnx.models import has_tensors_elsewhere, model_function

_LARGEST = 64 << 20
_ADVICE = dict.fromkeys((".npy", ".npz", ".pb", ".bin"), "name it as inputs or expected in the cases of a module")
_ADVICE |= dict.fromkeys((".gguf", ".irpa", ".safetensors"), "name it as parameters in the cases of a module")
_ADVICE |= dict.fromkeys((".csv", ".h5", ".hdf5", ".pt", ".pth", ".raw"), "cases read .npy, .npz, .pb and .bin")
"""What to do with files of values, by their suffix."""
_SIZE = 4
"""The size that is chosen for dynamic dimensions. It is the same for all, so that the operands of a matmul fit."""
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')
_HEADER = re.compile(
    r"\b(?:func|util)\.func\s+(?P<visibility>public\s+|private\s+)?(?:@(?P<name>[\w$.-]+)|@\"(?P<quoted>[^\"]+)\")\s*\("
)
_TORCH = re.compile(r"!torch\.vtensor<\[(?P<shape>[\d,? ]*)\],\s*(?P<element>[\w<>]+)>")


def mlir_functions(path: Path) -> Sequence[FunctionInfo]:
    """Return the public functions of an MLIR file that return something. Raises `RetargetError` for no such text."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        msg = "is no text in UTF-8, so it cannot be MLIR"
        raise RetargetError(msg) from error
    text = _COMMENT.sub(lambda match: match[1] or "", text)
    found = []
    for match in _HEADER.finditer(text):
        if (match["visibility"] or "").strip() == "private":
            continue
        closing = (bracket.start() for bracket, depth in brackets(text, match.end() - 1) if depth == 0)
        end = next(closing, None)
        if end is None:
            msg = "ends inside the arguments of a function"
            raise RetargetError(msg)
        if not re.match(r"\s*->", text[end + 1 :]):
            continue
        types = tuple(_argument_type(part) for part in split_types(text[match.end() : end]))
        name = match["name"] or match["quoted"]
        found.append(FunctionInfo(name=name, arguments=len(types), argument_types=types))
    return found


def _argument_type(text: str) -> str:
    """Return the type in `%name: type {attributes} loc(...)`."""
    written = text.partition(":")[2] if text.startswith("%") else text
    for match, depth in brackets(written):
        before = written[: match.start()]
        if depth == 1 and (match[0] == "{" or (match[0] == "(" and before.endswith(" loc"))):
            return before.removesuffix("loc").strip()
    return written.strip()


def _declared(text: str) -> DeclaredType:
    match = _TORCH.fullmatch(text)
    if match is None:
        return DeclaredType.parse(text)
    sizes = [size.strip() for size in match["shape"].split(",") if size.strip()]
    return DeclaredType.parse(f"tensor<{''.join(f'{size}x' for size in sizes)}{match['element'].removeprefix('s')}>")


def onnx_functions(path: Path) -> Sequence[FunctionInfo]:
    """Return the function of an ONNX model. Raises `RetargetError` for one that IREE cannot import or run."""
    try:
        function = model_function(path)
    except RetargetError as error:
        msg = "is not an ONNX model that the package onnx can read"
        raise RetargetError(msg) from error
    if function is None:
        msg = f"is an ONNX model, and the package onnx is not installed; {install_hint('onnx')}"
        raise RetargetError(msg)
    if has_tensors_elsewhere(path):
        msg = "has its tensors in other files; save it with onnx.save_model(model, path, save_as_external_data=False)"
        raise RetargetError(msg)
    return (function,)


def model_suites(request: ModulesRequest) -> Suggestions:
    """Return a suite of the ONNX models with data sets that hold results, and those of them that cannot be imported."""
    models: dict[Path, list[Path]] = {}
    left_out: list[tuple[Path, str]] = []
    for path in request.files:
        sets = data_sets(path) if path.suffix == ".onnx" else []
        if any(re.fullmatch(r"output_\d+\.pb", one.name) for one in sets):
            try:
                onnx_functions(path)
                models[path] = [*sets, cases_file_of(path)]
            except RetargetError as error:
                left_out.append((path, str(error)))
    if not models:
        return Suggestions(left_out=tuple(left_out))
    comment = ("ONNX models. The folders test_data_set_N beside each hold inputs and expected results.",)
    used = dict.fromkeys(file for files in models.values() for file in files)
    return Suggestions(
        suites=(SuggestedSuite(files=tuple(models), comment=comment, used=tuple(used)),), left_out=tuple(left_out)
    )


def cases_suites(request: ModulesRequest) -> Suggestions:
    """Return a suite of modules that have cases, a suite of modules that get some, and the modules that cannot."""
    present: list[Path] = []
    starters: list[tuple[Path, str]] = []
    left_out: list[tuple[Path, str]] = []
    taken: set[Path] = set()
    for path in request.files:
        if path.suffix not in {".mlir", ".onnx"}:
            continue
        cases = cases_file_of(path)
        if cases in taken:
            left_out.append((path, f"would share {cases.name} with another module; give it another name"))
        elif cases.is_file():
            present.append(path)
            taken.add(cases)
        else:
            try:
                starters.append((path, _starter(path, request.reference)))
                taken.add(cases)
            except RetargetError as error:
                left_out.append((path, str(error)))
    suites: list[SuggestedSuite] = []
    if present:
        suites.append(
            SuggestedSuite(
                files=tuple(present),
                comment=(f"The cases of each module, inputs and expected results, are in NAME{SUFFIX} beside it.",),
                agree=MAJORITY if any(_has_open_cases(path, request.folder) for path in present) else "",
                used=tuple(cases_file_of(path) for path in present),
            )
        )
    if starters:
        label = "starter" if present else ""
        comment = (
            f"Functions with arguments. The starter cases in NAME{SUFFIX} compare the compiler configs with",
            f"{request.reference} on generated inputs; give them expected values where you know them.",
        )
        suites.append(
            SuggestedSuite(
                files=tuple(path for path, _ in starters),
                comment=comment,
                label=label,
                writes=tuple((cases_file_of(path), text) for path, text in starters),
                compares=True,
            )
        )
    advised = ((path, _ADVICE[path.suffix]) for path in request.files if path.suffix in _ADVICE)
    data = tuple((path, f"holds values that no suite uses; {advice} (docs/cases.md)") for path, advice in advised)
    return Suggestions(suites=tuple(suites), left_out=tuple(left_out), data=data)


def _has_open_cases(path: Path, folder: Path) -> bool:
    """Return whether nothing is said of the results of a case, as far as the file can be read."""
    try:
        return any(case.is_open for case in read_cases_file(cases_file_of(path), folder).cases)
    except DiagnosticsError:
        return False


def _starter(path: Path, reference: str) -> str:
    """Return the text of a cases file. Raises `RetargetError` with the reason why there can be none."""
    if path.stat().st_size > _LARGEST and path.suffix == ".mlir":
        msg = f"has more than {_LARGEST >> 20} MiB, too much to look for functions; write its {SUFFIX} file by hand"
        raise RetargetError(msg)
    functions = mlir_functions(path) if path.suffix == ".mlir" else onnx_functions(path)
    if not functions:
        msg = "has no public function that returns something"
        raise RetargetError(msg)
    if not reference:
        msg = (
            f"needs expected results in {cases_file_of(path).name}: there is no second compiler config to compare with"
        )
        raise RetargetError(msg)
    tables = [_case(function, reference, named=len(functions) > 1 and path.suffix == ".mlir") for function in functions]
    head = (
        "# Starter cases, written by `retarget init`: random inputs, the same in every run. The expected results are\n"
        f"# those of the compiler config {reference}, so an error that all configs share is not found. Where you know\n"
        '# the results, replace agree_with by expected = [...] or by reference = "file.py:function" (NumPy).\n'
    )
    return "\n".join([head, *tables])


def _case(function: FunctionInfo, reference: str, *, named: bool) -> str:
    # An artifact says nothing of the types of torch.
    is_untyped = any(word.startswith("!torch.") for word in function.argument_types)
    values: list[str] = []
    for position, argument in enumerate(map(_declared, function.argument_types)):
        if argument.dtype is None or argument.shape is None:
            msg = f"takes an argument of type {argument.text} ({function.name}, argument {position}), "
            raise RetargetError(msg + "for which no values can be generated")
        written = argument.element if is_untyped else None
        values.append(_value(argument.dtype, argument.shape, written))
    lines = ["[[case]]"]
    if named:
        lines.append(f'function = "{function.name}"')
    if len(values) > 1:
        lines += ["inputs = [", *(f"    {value}," for value in values), "]"]
    else:
        lines.append(f"inputs = [{''.join(values)}]")
    lines.append(f'agree_with = "{reference}"')
    return "\n".join(lines) + "\n"


def _value(dtype: str, shape: Sequence[int | None], element: str | None) -> str:
    """Return the table of a random value, with its type if it is given an `element`, which an artifact does not say."""
    if dtype in {"bool", "int2", "uint2"}:
        keys = ['random = "integers"', "low = 0", "high = 2"]
    elif "int" in dtype:  # no zero, which may be divided by; nothing large, which may be an index
        keys = ['random = "integers"', "low = 1", "high = 5"]
    elif dtype == "float8_e8m0fnu":  # powers of two, without a sign
        keys = ['random = "uniform"', "low = 1", "high = 4"]
    else:
        keys = ['random = "uniform"', "low = -1", "high = 1"]
    if element or None in shape:
        sizes = ", ".join(str(_SIZE if size is None else size) for size in shape)
        keys.append(f"shape = [{sizes}]")
    if element:
        keys.append(f'dtype = "{element}"')
    return f"{{ {', '.join(keys)} }}"
