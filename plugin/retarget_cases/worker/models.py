"""The cases of an ONNX model: written ones, completed, data sets, and a generated one.

Runs in worker processes and for `retarget check`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.extension import CaseRequest, FunctionInfo
from retarget.support import KeyPath, Problem, RetargetError, did_you_mean, display_path

from retarget_cases.files import SUFFIX, cases_file_of
from retarget_cases.files.read import DEFAULT_REFERENCE, CasesFile, WrittenCase, default_generator, read_cases_file
from retarget_cases.files.tables import BinTable, NpyTable, NpzTable, PbTable, ValuesTable, element_dtype
from retarget_cases.files.values import Value
from retarget_cases.onnx.models import Model, ModelValue, read_model
from retarget_cases.worker.cases import Reading, case_names
from retarget_cases.worker.reference import References


def model_readings(request: CaseRequest, function: str, *, only_checks: bool = False) -> Iterator[Reading]:
    """Yield the cases of a model that became `function`. Raises `RetargetError`."""
    model, references = read_model(request.source), References()
    if model.newer:
        msg = (
            f"{display_path(request.source)}: {model.newer}; expected one of those: save it so, or install a newer onnx"
        )
        raise RetargetError(msg)
    written = [path for path in request.data if path.name.endswith(SUFFIX)]
    file = CasesFile(path=request.source)  # without a file, errors are located in the model
    if written:
        file = read_cases_file(written[0], request.folder, of_model=True)
    generated = WrittenCase(name="generated", reference=DEFAULT_REFERENCE, sizes=file.sizes, generate=file.generate)
    beside = replace(file, path=request.source, text="")  # the model may be elsewhere, and its data sets beside it
    sets = [(beside, case) for case in _data_sets(request.data)]
    cases = [(file, case) for case in file.cases] + sets or [(file, generated)]
    graph = FunctionInfo(name=model.name or function, arguments=len(model.inputs))
    names = case_names([case for _, case in cases], [graph])
    for (origin, case), name in zip(cases, names, strict=True):
        problems: list[Problem] = []
        bound, info = _bound(case, model, function, problems)
        if not written:
            where = f"in {cases_file_of(request.source).name} beside it"
            problems = [Problem(one.path, f"{one.message} {where}") for one in problems]
        problems += _gaps(case) if origin is beside else ()
        yield Reading(
            file=origin,
            written=bound,
            name=name,
            request=replace(
                request,
                module=request.entry or request.module,
                folder=request.source.parent if origin is beside else request.folder,
                functions=() if problems else (info,),
            ),
            references=references,
            types_of_model=True,
            only_checks=only_checks,
            inputs=tuple(value.name for value in model.inputs),
            problems=tuple(Problem.locate(origin.path, origin.text, problems)),
        )


def _data_sets(data: Sequence[Path]) -> Iterator[WrittenCase]:
    """Yield a case for each folder of tensors, as the ONNX project lays them out."""
    folders: dict[Path, dict[str, list[tuple[int, Path]]]] = {}
    for path in data:
        if match := re.fullmatch(r"(input|output)_(\d+)\.pb", path.name):
            folders.setdefault(path.parent, {}).setdefault(match[1], []).append((int(match[2]), path))
    for folder, found in folders.items():
        inputs, expected = (
            tuple(
                Value(key_path=(), table=PbTable(pb=f"{folder.name}/{path.name}"))
                for _, path in sorted(found.get(word, []))
            )
            for word in ("input", "output")
        )
        yield WrittenCase(name=folder.name, inputs=inputs, expected=expected, names=None if inputs else ())


def _gaps(case: WrittenCase) -> Iterator[Problem]:
    """Yield which files of a data set are not where their numbers say: one before them is missing, or there twice."""
    for word, values in (("input", case.inputs), ("output", case.expected or ())):
        for place, path in enumerate(Path(value.table.pb) for value in values if isinstance(value.table, PbTable)):
            if int(path.stem.rpartition("_")[2]) != place:
                message = f"found {path.name} in {case.name}, expected {word}_{place}.pb"
                yield Problem((), message)
                break


def _bound(case: WrittenCase, model: Model, function: str, problems: list[Problem]) -> tuple[WrittenCase, FunctionInfo]:
    """Return a case with a value for each input, and the function with the sizes of the case, as far as there are no
    `problems`."""
    dynamic = {size for value in model.inputs for size in value.sizes or () if isinstance(size, str) and size}
    for name, (_, key_path) in case.sizes.items():
        if name not in dynamic:
            known = ", ".join(sorted(dynamic)) or "none"
            expected = f"expected a dynamic size that the model names: {known}{did_you_mean(name, dynamic)}"
            problems.append(Problem(key_path, f"found the size {name!r}, {expected}"))
    names = [value.name for value in model.inputs]
    given = dict(zip(case.names or (names if case.inputs else ()), case.inputs, strict=False))
    for name in case.names or ():
        if name not in names:
            expected = f"expected one of the model: {', '.join(names)}{did_you_mean(name, names)}"
            problems.append(Problem((*case.key_path, "inputs", name), f"found the input {name!r}, {expected}"))
    sizes = {name: size for name, (size, _) in case.sizes.items()}
    inputs = [_input(value, given.get(value.name), case, sizes, problems) for value in model.inputs]
    info = FunctionInfo(
        name=function,
        arguments=len(model.inputs),
        argument_types=tuple(  # given values have their own sizes
            value.type({} if value.name in given and _is_given(given[value.name]) else sizes) for value in model.inputs
        ),
        result_types=tuple(value.type() for value in model.outputs),
    )
    is_positional = case.names is None and bool(case.inputs)
    return (case if is_positional else replace(case, inputs=tuple(filter(None, inputs)))), info


def _is_given(value: Value) -> bool:
    """Whether a value is not generated, or has a written shape."""
    given = ValuesTable | NpyTable | NpzTable | PbTable | BinTable
    return value.shape is not None or isinstance(value.table, given)


def _input(
    value: ModelValue, given: Value | None, case: WrittenCase, sizes: Mapping[str, int], problems: list[Problem]
) -> Value | None:
    """Return the value of an input; generated, where none is given."""
    where: KeyPath = (*case.key_path, "inputs", value.name) if given is None else given.key_path
    if value.other:
        message = f"found the input {value.name!r}, a {value.other}; expected a model that takes tensors of numbers"
        problems.append(Problem(where, message))
        return None
    if given is None:
        dtype = element_dtype(value.element) or value.element
        generator = case.generate.get(dtype)
        table = generator.table if generator is not None else default_generator(dtype)
        given = Value(key_path=generator.key_path if generator is not None else where, table=table, is_table=True)
    elif _is_given(given):
        return given
    missing = [
        size for size in (("",) if value.sizes is None else value.sizes) if isinstance(size, str) and size not in sizes
    ]
    if missing and given.shape is None:
        found = f"found no size {missing[0]!r}" if missing[0] else "found no shape"
        expected = f"sizes = {{ {missing[0]} = … }}" if missing[0] else f"inputs.{value.name} = {{ …, shape = […] }}"
        message = f"{found} for the input {value.name!r} ({value.type()}), expected {expected}"
        problems.append(Problem(where, message))
    return given
