"""A written case and a module's functions → the case that runs. Runs in worker processes.

What is wrong with one case is found when it is about to run, and is that case's failure alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from retarget.arrays import Elements, fit
from retarget.extension import Case, CaseData, CaseRequest, FunctionInfo
from retarget.model import DeclaredType
from retarget.support import DataFiles, Diagnostic, DiagnosticsError, Problem, RetargetError, did_you_mean

from retarget_cases.files.read import NOTHING_EXPECTED, CasesFile, Reference, WrittenCase, read_cases_file
from retarget_cases.files.tables import FillTable, ValuesTable
from retarget_cases.files.values import Value, tolerances
from retarget_cases.worker.arrays import ArrayBuilder, InvalidValueError, literal
from retarget_cases.worker.reference import References, evaluate

if TYPE_CHECKING:
    from retarget.extension import Array


def readings(request: CaseRequest, model: FunctionInfo | None, *, only_checks: bool = False) -> Iterator[Reading]:
    """Yield the written cases of a module, in the order of its files. Raises `DiagnosticsError`.

    `model` is the function of an ONNX model where the artifact says nothing of its types. Compilers name it as they
    like, so cases without a name have that of the model's graph. With `only_checks` nothing is generated.
    """
    references, named = References(), request.functions if model is None else (model,)
    for path in request.data:
        file = read_cases_file(path, request.folder)
        for written, name in zip(file.cases, case_names(file.cases, named), strict=True):
            yield Reading(
                file=file,
                written=written,
                name=name,
                request=request,
                references=references,
                types_of_model=model is not None,
                only_checks=only_checks,
            )


def case_names(cases: Sequence[WrittenCase], functions: Sequence[FunctionInfo]) -> Sequence[str]:
    """Return the names: the written ones, else that of the function; numbered from 2 where it is taken."""
    taken = {case.name for case in cases if case.name is not None}
    names: list[str] = []
    for case in cases:
        name = case.name
        if name is None:
            base = case.function or (functions[0].name if len(functions) == 1 else "case")
            name, number = base, 1
            while name in taken:
                number += 1
                name = f"{base}-{number}"
            taken.add(name)
        names.append(name)
    return names


class Reading(Struct, frozen=True, kw_only=True):
    """One case about to run, or to be checked. `inputs` are the names of an ONNX model's inputs,
    `problems` what does not fit the model."""

    file: CasesFile
    written: WrittenCase
    name: str
    request: CaseRequest
    references: References
    types_of_model: bool
    only_checks: bool
    inputs: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    def case(self) -> Case:
        """Return the case. `read` makes its values and raises `DiagnosticsError` for what does not fit the function."""
        functions = self.request.functions
        return Case(
            name=self.name,
            function=self.written.function or (functions[0].name if len(functions) == 1 else ""),
            read=self.read,
            tolerances=tolerances(self.file.tolerance, self.written.tolerance),
            agree_with=self.agree_with,
        )

    def diagnostics(self) -> Sequence[Diagnostic]:
        """Return what is wrong with the function, the inputs and the expected values that are written."""
        found: list[Diagnostic] = []
        try:
            function = self._function()
        except DiagnosticsError as error:
            return error.diagnostics
        values = {"inputs": (self.written.inputs, function.argument_types)}
        if self.written.expected is not None:
            values["expected"] = (self.written.expected, function.result_types)
        for key, (written, types) in values.items():
            try:
                self._arrays(key, written, tuple(map(DeclaredType.parse, types)), function, len(types))
            except DiagnosticsError as error:
                found += error.diagnostics
        return found

    def read(self) -> CaseData:
        """Return the case's values. Raises `DiagnosticsError` with all that is wrong with its inputs or results."""
        function = self._function()
        arguments = _parsed(function.argument_types)
        # An artifact that says what the function takes says what it returns.
        results = _parsed(function.result_types) or (None if arguments is None else ())
        written = self.written
        inputs = self._arrays("inputs", written.inputs, arguments, function, function.arguments)
        if written.reference is not None and not self.agree_with:
            return CaseData(inputs=inputs, expected=self._computed(written.reference, inputs, results, function))
        if written.agreement is not None:
            self.file.agreed_config(written.agreement, self.request.compiler)  # or there is nothing to agree with
        if written.expected is None:
            if not self.agree_with:
                raise self.file.diagnostic(written.key_path, NOTHING_EXPECTED)
            return CaseData(inputs=inputs)
        count = len(results) if results is not None else None
        return CaseData(inputs=inputs, expected=self._arrays("expected", written.expected, results, function, count))

    @property
    def agree_with(self) -> str:
        """What the case is to agree with: a compiler config, `MAJORITY`, or nothing (empty)."""
        if (agreement := self.written.agreement) is not None:
            return agreement.config(self.request.compiler) or ""
        return self.request.agree if self.written.is_open else ""

    def _function(self) -> FunctionInfo:
        if self.problems:
            raise DiagnosticsError(self.problems)
        functions = {function.name: function for function in self.request.functions}
        name, exported = self.written.function, ", ".join(functions) or "none"
        if name is None:
            if len(functions) == 1:
                return next(iter(functions.values()))
            raise self.file.diagnostic(
                self.written.key_path, f"found no function, expected one of those that the module exports: {exported}"
            )
        if name not in functions:
            expected = f"expected one that the module exports: {exported}{did_you_mean(name, functions)}"
            raise self.file.diagnostic((*self.written.key_path, "function"), f"found the function {name!r}, {expected}")
        return functions[name]

    def _arrays(
        self,
        key: str,
        values: Sequence[Value],
        declared: Sequence[DeclaredType] | None,
        function: FunctionInfo,
        count: int | None,
    ) -> tuple[Array, ...]:
        word = "argument" if key == "inputs" else "result"
        key_path = (*self.written.key_path, key)
        if count is not None and len(values) != count:
            types = ", ".join(one.text for one in declared or ())
            verb, plural = "takes" if word == "argument" else "returns", "" if count == 1 else "s"
            found = f"found {len(values)} value{'' if len(values) == 1 else 's'}"
            message = f"{found}, {function.name} {verb} {count} {word}{plural}" + (f" ({types})" if types else "")
            plain = all(isinstance(value.table, ValuesTable) and not value.is_table for value in values)
            if count == 1 and len(values) > 1 and plain and declared and declared[0].shape:
                message += f"; did you mean {key} = [[…]]?"
            raise self.file.diagnostic(key_path, message)
        files = DataFiles(folder=self.request.folder, base=self.file.path.parent)
        builder = ArrayBuilder(files=files, module=self.request.module, case=self.name, only_checks=self.only_checks)
        arrays: list[Array] = []
        problems: list[Problem] = []
        for position, value in enumerate(values):
            # Results draw other numbers than arguments do: their positions go on after them.
            drawn = position + (len(self.written.inputs) if key == "expected" else 0)
            type_ = None if declared is None else declared[position]
            if type_ is not None and self.types_of_model and value.dtype is not None:
                type_ = replace(type_, dtype=value.dtype)  # a compiler may take another than the model, such as f32
            try:
                arrays.append(builder.array(value, type_, drawn))
            except RetargetError as error:
                message = f"{word} {position} of {function.name}: {error}"
                index = error.index if isinstance(error, InvalidValueError) else ()
                if index and value.is_table:
                    index = ("fill" if isinstance(value.table, FillTable) else "values", *index)
                problems.append(Problem((*value.key_path, *index), message))
        if problems:
            raise DiagnosticsError(Problem.locate(self.file.path, self.file.text, problems))
        return tuple(arrays)

    def _computed(
        self,
        reference: Reference,
        inputs: Sequence[Array],
        declared: Sequence[DeclaredType] | None,
        function: FunctionInfo,
    ) -> tuple[Array, ...]:
        try:
            if reference.file:
                path = DataFiles(folder=self.request.folder, base=self.file.path.parent).path(reference.file)
                returned = self.references.call(path, reference.function, inputs)
            else:
                returned = evaluate(self.request.source, reference.function, self.inputs, inputs)
        except RetargetError as error:
            raise self.file.diagnostic(reference.key_path, str(error)) from error
        if declared is not None and len(returned) != len(declared):
            types = ", ".join(result.text for result in declared)
            ours = f"{reference.written} returned {len(returned)} result{'' if len(returned) == 1 else 's'}"
            message = f"{ours}, {function.name} returns {len(declared)}" + (f" ({types})" if types else "")
            if any(isinstance(result, bool | int | float | complex) for result in returned):
                message += "; a list or tuple holds a result per entry, numpy.array(…) makes one result of it"
            raise self.file.diagnostic(reference.key_path, message)
        if not returned:
            expected = "expected a result: a case that cannot fail tests nothing"
            message = f"{function.name} returns nothing to compare; {expected}"
            raise self.file.diagnostic(reference.key_path, message)
        problems: list[Problem] = []
        arrays: list[Array] = []
        for position, result in enumerate(returned):
            try:
                arrays.append(_result(result, None if declared is None else declared[position]))
            except RetargetError as error:
                problems.append(Problem(reference.key_path, f"result {position} of {reference.written}: {error}"))
        if problems:
            raise DiagnosticsError(Problem.locate(self.file.path, self.file.text, problems))
        return tuple(arrays)


def _parsed(types: Sequence[str]) -> tuple[DeclaredType, ...] | None:
    """Return the declared types; None where the artifact says nothing of them."""
    return tuple(map(DeclaredType.parse, types)) if types else None


def _result(result: object, declared: DeclaredType | None) -> Array:
    """Return a result of a reference as an array. Python's own numbers take the declared type, arrays must have it."""
    if isinstance(result, bool | int | float | complex) and not isinstance(result, np.generic):
        elements = None if declared is None else Elements.declared(declared)
        if declared is not None and elements is not None:
            written = [result.real, result.imag] if isinstance(result, complex) else result
            return fit(literal(written, elements.dtype, declared, ()), declared)
        return np.asarray(result)
    if isinstance(result, np.ma.MaskedArray) or not isinstance(result, np.ndarray | np.generic):
        msg = f"found {type(result).__name__}, expected a NumPy array"
        raise InvalidValueError(msg if declared is None else f"{msg} ({declared.text})")
    array = np.asarray(result)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if declared is None else fit(array, declared)
