"""The functions of a module as its source declares them, for `retarget init`. Nothing is compiled.

MLIR is read as text, as far as function headers go: `func.func` and `util.func` in their usual form. An ONNX model has
one function, its graph, whose arguments are the inputs that are no initializers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from retarget.model.element_types import DeclaredType, brackets, parse_type, split_types
from retarget.support.errors import RetargetError
from retarget.support.installing import install_hint
from retarget_onnx.models import has_tensors_elsewhere, model_function

__all__ = ["Function", "mlir_functions", "onnx_functions"]

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')
_HEADER = re.compile(
    r"\b(?:func|util)\.func\s+(?P<visibility>public\s+|private\s+)?(?:@(?P<name>[\w$.-]+)|@\"(?P<quoted>[^\"]+)\")\s*\("
)
_TORCH = re.compile(r"!torch\.vtensor<\[(?P<shape>[\d,? ]*)\],\s*(?P<element>[\w<>]+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A public function that returns something. `is_untyped` means that its artifact says nothing of types."""

    name: str
    arguments: tuple[DeclaredType, ...]
    is_untyped: bool = False


def mlir_functions(path: Path) -> tuple[Function, ...]:
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
        end = _closing(text, match.end() - 1)
        if not re.match(r"\s*->", text[end + 1 :]):
            continue
        types = [_argument_type(part) for part in split_types(text[match.end() : end])]
        is_untyped = any(word.startswith("!torch.") for word in types)
        arguments = tuple(map(_declared, types))
        found.append(Function(name=match["name"] or match["quoted"], arguments=arguments, is_untyped=is_untyped))
    return tuple(found)


def _closing(text: str, at: int) -> int:
    """Return where the bracket at `at` is closed. Raises `RetargetError` where it is not."""
    closing = next((match.start() for match, depth in brackets(text, at) if depth == 0), None)
    if closing is None:
        msg = "ends inside the arguments of a function"
        raise RetargetError(msg)
    return closing


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
        return parse_type(text)
    sizes = [size.strip() for size in match["shape"].split(",") if size.strip()]
    return parse_type(f"tensor<{''.join(f'{size}x' for size in sizes)}{match['element']}>")


def onnx_functions(path: Path) -> tuple[Function, ...]:
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
    return (Function(name=function.name, arguments=tuple(map(parse_type, function.argument_types))),)
