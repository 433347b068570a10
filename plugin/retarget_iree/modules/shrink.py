"""`python3 -m retarget_iree.modules.shrink MODULE -o FOLDER`: variants of a module, each smaller in one way.

    MODULE              .mlir, .mlirbc or .onnx
    -o FOLDER           where they are written
    --keep-types        what is public keeps its arguments and results

Standard input has the names of variants that are not to be written again, one a line. The first line printed says what
the module has; each other one has the file of a variant and its name, with a tab between, boldest first and a dozen at
most. All parse and verify. With no name refused, the first is the module itself as the compiler prints it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from retarget.extension import CompilerError, UnavailableError

from retarget_iree.checks import is_public, symbol_of, walk
from retarget_iree.modules.onnx_import import import_onnx
from retarget_iree.toolchain import compiler_api

_MOST = 12
_PRINTED = "as the compiler prints it"
_FUNCTIONS = {"func.func": "func.return", "util.func": "util.return"}
_DROPPED = {"arith.constant", "tensor.empty", "util.unfoldable_constant"}
"""Ops that go once nothing uses them, whatever else a variant is about."""

_SHAPED = re.compile(r"\b(?:tensor|memref|vector)<(?:(?:\d+|\?|\[\d+\])x)+|\bvtensor<\[[\d,?]+\]")
_DENSE = re.compile(
    r"dense<(?P<list>\[[^<>\"]*\]|\"0x[0-9A-Fa-f]*\")>\s*:\s*(?:tensor|vector)<(?P<dims>(?:\d+x)+)(?P<type>\w+)"
)
_SYMBOL = re.compile(r"@([\w$.-]+|\"[^\"]*\")")
_DEFINITION = re.compile(r"(?m)^( *[\w.]+ private (?:mutable )?)@\S+")
_NUMBER = re.compile(r"(?<![\w.%#@\"<x-])\d+(?![\w.\"])")


def main(argv: Sequence[str] | None = None) -> int:
    """Write variants, and return 0; 1 for a module that does not parse."""
    parser = argparse.ArgumentParser(
        prog="python3 -m retarget_iree.modules.shrink", description="Write smaller variants."
    )
    parser.add_argument("module", type=Path, metavar="MODULE", help=".mlir, .mlirbc or .onnx")
    parser.add_argument("-o", required=True, type=Path, dest="output", metavar="FOLDER", help="where to write them")
    parser.add_argument("--keep-types", action="store_true", help="what is public keeps its arguments and results")
    options = parser.parse_args(argv)
    refused = set(sys.stdin.read().splitlines())
    compiler_api()
    from iree.compiler import ir

    with ir.Context() as context, ir.Location.unknown():
        context.emit_error_diagnostics = False
        try:
            module = _parsed(options.module)
        except (ir.MLIRError, CompilerError, UnavailableError) as error:
            sys.stderr.write(f"{error}\n")
            return 1
        print(_has(module))
        text = str(module)
        written = islice(variants(text, refused, keep_types=options.keep_types), _MOST)
        for number, (name, variant) in enumerate(written):
            file = options.output / f"{number}.mlir"
            file.write_text(variant, encoding="utf-8")
            print(f"{file}\t{name}")
    return 0


def _parsed(path: Path) -> Any:
    from iree.compiler import ir

    if path.suffix == ".onnx":
        return ir.Module.parse(import_onnx(path.read_bytes(), path.name))
    return ir.Module.parseFile(str(path))


def variants(text: str, refused: set[str], *, keep_types: bool) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of variants that verify, boldest first. Needs a context of the compiler's bindings."""
    from iree.compiler import ir

    seen = {text}
    if _PRINTED not in refused:
        yield _PRINTED, text
    for name, make in _edits(text, keep_types=keep_types):
        if name in refused:
            continue
        try:
            changed = ir.Module.parse(make())
            _drop_unused(changed)
            smaller = str(changed)
        except (ir.MLIRError, ValueError):
            continue
        if smaller not in seen:
            seen.add(smaller)
            yield name, smaller


def _edits(text: str, *, keep_types: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the names of edits, and what makes each."""
    from iree.compiler import ir

    module = ir.Module.parse(text)
    public = [symbol_of(one) for one in _functions(module) if is_public(one)]
    for kept in _parts(public):
        yield f"only {', '.join(kept)}", lambda kept=kept: _with(text, _keep, set(kept))  # type: ignore[misc]
    sizes = [(symbol_of(one), len(_body(one))) for one in _functions(module) if len(one.regions[0].blocks) == 1]
    if not keep_types:
        for function, size in sizes:
            for length in dict.fromkeys((size // 2, 3 * size // 4, 7 * size // 8, size - 2)):
                if 0 < length < size - 1:
                    name = f"{function} ends after {length} of {size} ops"
                    yield name, lambda f=function, n=length: _with(text, _end, f, n)  # type: ignore[misc]
    yield from _sized(text)
    for function, size in sizes:
        for at in range(size - 2, -1, -1):
            for how in ("passed by", *(() if keep_types else ("an argument",))):
                yield f"op {at} of {function} is {how}", lambda f=function, n=at, how=how: _with(text, _take, f, n, how)  # type: ignore[misc]
    yield "no unused values", lambda: _with(text, _drop_unused, None)
    if not keep_types:
        yield "no unused arguments", lambda: _with(text, _drop_arguments)


def _sized(text: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield edits that make sizes of shapes smaller, the largest first."""
    for size in sorted(_sizes(text), reverse=True):
        for smaller in dict.fromkeys((1, 2, 4, size // 2)):
            if 0 < smaller < size:
                for how in ("sizes", "multiples", "numbers"):
                    name = f"{how} of {size} become {smaller}"
                    yield name, lambda s=size, t=smaller, how=how: resized(text, s, t, how)  # type: ignore[misc]


def _has(module: Any) -> str:
    functions = [one for one in _functions(module) if is_public(one)]
    ops = sum(1 for _ in walk(module.operation)) - len(_functions(module))
    return f"{len(functions)} function{'s' * (len(functions) != 1)}, {ops} op{'s' * (ops != 1)}"


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the halves of a list, then all but one of it, if that is another part."""
    if len(names) > 1:
        yield names[: len(names) // 2]
        yield names[len(names) // 2 :]
    if len(names) > 2:
        yield from ([other for other in names if other != name] for name in names)


# ---------------------------------------------------------------- edits of the parsed module


def _with(text: str, edit: Callable[..., None], *arguments: Any) -> str:
    from iree.compiler import ir

    module = ir.Module.parse(text)
    edit(module, *arguments)
    return str(module)


def _keep(module: Any, names: set[str]) -> None:
    for one in _functions(module):
        if is_public(one) and symbol_of(one) not in names:
            one.erase()


def _end(module: Any, function: str, length: int) -> None:
    """End a function after some of its ops, with the results of the last of them."""
    from iree.compiler import ir

    (one,) = (found for found in _functions(module) if symbol_of(found) == function)
    body = _body(one)
    results = list(body[length - 1].results)
    for later in reversed(body[length:]):
        later.erase()
    block = one.regions[0].blocks[0]
    ir.Operation.create(_FUNCTIONS[one.name], operands=results, results=[], ip=ir.InsertionPoint(block))
    declared = one.attributes["function_type"].value
    types = ir.FunctionType.get(declared.inputs, [result.type for result in results])
    one.attributes["function_type"] = ir.TypeAttr.get(types)
    for name in ("res_attrs", "iree.abi.declaration", "iree.reflection"):
        if name in one.attributes:
            del one.attributes[name]


def _take(module: Any, function: str, at: int, how: str) -> None:
    """Take an op out: its results become operands of the same types, or further arguments of the function."""
    from iree.compiler import ir

    (one,) = (found for found in _functions(module) if symbol_of(found) == function)
    op = _body(one)[at]
    block = one.regions[0].blocks[0]
    added = []
    for result in op.results:
        alike = [operand for operand in op.operands if operand.type == result.type]
        if how == "passed by" and not alike:
            msg = "nothing of that type"
            raise ValueError(msg)
        if how != "passed by":
            added.append(result.type)
        result.replace_all_uses_with(
            alike[0] if how == "passed by" else block.add_argument(result.type, ir.Location.unknown())
        )
    op.erase()
    if added:
        declared = one.attributes["function_type"].value
        types = ir.FunctionType.get([*declared.inputs, *added], declared.results)
        one.attributes["function_type"] = ir.TypeAttr.get(types)
        if "arg_attrs" in one.attributes:
            own = [*one.attributes["arg_attrs"], *(ir.DictAttr.get({}) for _ in added)]
            one.attributes["arg_attrs"] = ir.ArrayAttr.get(own)


def _drop_unused(module: Any, names: set[str] | None = _DROPPED) -> None:
    """Take out private symbols and ops of these names (None: of any) that nothing uses, until there are none left."""
    is_changed = True
    while is_changed:
        is_changed = False
        for one in reversed(list(walk(module.operation))):
            results = list(one.results)
            if results and (names is None or one.name in names) and not any(list(result.uses) for result in results):
                one.erase()
                is_changed = True
        used = {name.strip('"') for name in _SYMBOL.findall(_DEFINITION.sub(r"\1", str(module)))}
        for one in [found.operation for found in module.body.operations]:
            is_private = "sym_visibility" in one.attributes and one.attributes["sym_visibility"].value == "private"
            if is_private and one.attributes["sym_name"].value not in used:
                one.erase()
                is_changed = True


def _drop_arguments(module: Any) -> None:
    """Take the arguments of public functions out that nothing uses."""
    from iree.compiler import ir

    for one in filter(is_public, _functions(module)):
        block = one.regions[0].blocks[0]
        unused = [at for at, argument in enumerate(block.arguments) if not list(argument.uses)]
        for at in reversed(unused):
            block.erase_argument(at)
        declared = one.attributes["function_type"].value
        types = ir.FunctionType.get([argument.type for argument in block.arguments], declared.results)
        one.attributes["function_type"] = ir.TypeAttr.get(types)
        if unused and "arg_attrs" in one.attributes:
            own = [attributes for at, attributes in enumerate(one.attributes["arg_attrs"]) if at not in unused]
            one.attributes["arg_attrs"] = ir.ArrayAttr.get(own)


def _functions(module: Any) -> list[Any]:
    """Return the functions of a module that have a body."""
    found = [one.operation for one in module.body.operations]
    return [one for one in found if one.name in _FUNCTIONS and len(one.regions[0].blocks)]


def _body(function: Any) -> list[Any]:
    return [one.operation for one in function.regions[0].blocks[0].operations]


# ---------------------------------------------------------------- edits of the text


def _sizes(text: str) -> set[int]:
    """Return the sizes in the shapes of a module."""
    return {int(size) for shape in _SHAPED.findall(text) for size in re.findall(r"\d+", shape)}


def resized(text: str, size: int, smaller: int, how: str) -> str:
    """Return a module's text in which shapes have `smaller` for `size`: `sizes` alone, its `multiples` in proportion,
    or with all `numbers` that are the same. Literals of arrays are cut to their new shapes."""

    def number(found: re.Match[str]) -> str:
        value = int(found[0])
        if value == size or (how == "multiples" and value and value % size == 0):
            return str(value // size * smaller)
        return found[0]

    text = _DENSE.sub(lambda found: _cut(found, number), text)
    text = _SHAPED.sub(lambda found: re.sub(r"\d+", number, found[0]), text)
    return _NUMBER.sub(number, text) if how == "numbers" else text


def _cut(found: re.Match[str], number: Callable[[re.Match[str]], str]) -> str:
    """Return the literal of an array in its new shape, and its type in the old one; of bits, all of one value."""
    new = [int(re.sub(r"\d+", number, size)) for size in found["dims"].split("x")[:-1]]
    if found["list"].startswith('"'):
        one = "true" if found["type"] == "i1" else "1.0" if "f" in found["type"] else "1"
        return found[0].replace(found["list"], one)
    return found[0].replace(found["list"], _sliced(found["list"], new))


def _sliced(text: str, sizes: Sequence[int]) -> str:
    """Return a nested list with the first elements of each dimension."""
    if not sizes:
        return text.strip()
    parts, depth, start = [], 0, 1
    for at, character in enumerate(text):
        depth += character in "[("
        depth -= character in "])"
        if (character == "," and depth == 1) or (at == len(text) - 1):
            parts.append(text[start:at].strip())
            start = at + 1
    return f"[{', '.join(_sliced(part, sizes[1:]) for part in parts[: sizes[0]])}]"


if __name__ == "__main__":
    sys.exit(main())
