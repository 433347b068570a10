"""The host program as frozen data, and its JSON form.

Every function has registers, numbered from 0. An instruction is a tuple: its name, then registers, numbers, texts or
tuples of them, as in the interpreter's table. Structured control flow is written as blocks and jumps. Timepoints do
not exist: commands go to one in-order queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Constant", "Export", "Function", "Kernel", "Program", "Scalar"]

Scalar = int | float | str | None | tuple["Scalar", ...]
Instruction = tuple[Scalar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A register that holds a constant. `kind` is `number`, `float` (hexadecimal text), `text`, `blob` (the index of
    one of the artifact's constants) or `null`."""

    register: int
    kind: str
    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """`blocks` are tuples of instructions; the last of each is a jump or return. Arguments arrive in `parameters`."""

    name: str
    registers: int
    parameters: tuple[int, ...]
    constants: tuple[Constant, ...]
    blocks: tuple[tuple[Instruction, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A function that users may call. `arguments` and `results` are IREE types in text, `declaration` is for people."""

    name: str
    function: int
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    declaration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What a dispatch must know. `bindings` and `constants` are ordinals in the order of the kernel's parameters,
    `groups` is the function that counts work-groups from the workload, `location` where its ops stand in the module.

    A kernel with `members`, the numbers of other kernels, does the work of all of them in one launch. Its parameters
    are those of each member and, after each, the member's work-groups in three dimensions; its own work-groups
    are theirs in a row.
    """

    name: str
    bindings: tuple[int, ...]
    constants: tuple[int, ...]
    workgroup_size: tuple[int, int, int]
    groups: int
    location: str = ""
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`globals` are (name, initial value) pairs; a value that is not plain starts as None. `initializers` are the
    functions to call after loading, in order."""

    globals: tuple[tuple[str, Scalar], ...]
    functions: tuple[Function, ...]
    initializers: tuple[int, ...]
    exports: tuple[Export, ...]
    kernels: tuple[Kernel, ...]

    @property
    def launched(self) -> frozenset[Scalar]:
        """The numbers of the kernels that instructions launch: a member of another may be launched only with it."""
        words = (word for function in self.functions for block in function.blocks for word in block)
        return frozenset(one for word in words if str(word[0]).startswith("dispatch") for one in word[1:2])

    def to_json(self) -> dict[str, Any]:
        """Return the program as lists, dictionaries, numbers and texts."""
        return {
            "globals": self.globals,
            "functions": [
                {
                    "name": function.name,
                    "registers": function.registers,
                    "parameters": function.parameters,
                    "constants": [(item.register, item.kind, item.value) for item in function.constants],
                    "blocks": function.blocks,
                }
                for function in self.functions
            ],
            "initializers": self.initializers,
            "exports": [
                (item.name, item.function, item.arguments, item.results, item.declaration) for item in self.exports
            ],
            "kernels": [
                (
                    item.name,
                    item.bindings,
                    item.constants,
                    item.workgroup_size,
                    item.groups,
                    item.location,
                    item.members,
                )
                for item in self.kernels
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Program:
        """Return the program that `to_json` gave. Raises `KeyError`, `TypeError` or `ValueError` for other data."""
        return cls(
            globals=tuple((str(name), _freeze(value)) for name, value in data["globals"]),
            functions=tuple(
                Function(
                    name=str(item["name"]),
                    registers=int(item["registers"]),
                    parameters=_numbers(item["parameters"]),
                    constants=tuple(
                        Constant(register=int(register), kind=str(kind), value=_freeze(value))
                        for register, kind, value in item["constants"]
                    ),
                    blocks=tuple(tuple(map(_instruction, block)) for block in item["blocks"]),
                )
                for item in data["functions"]
            ),
            initializers=_numbers(data["initializers"]),
            exports=tuple(
                Export(
                    name=str(name),
                    function=int(function),
                    arguments=tuple(str(kind) for kind in arguments),
                    results=tuple(str(kind) for kind in results),
                    declaration=str(declaration),
                )
                for name, function, arguments, results, declaration in data["exports"]
            ),
            kernels=tuple(
                Kernel(
                    name=str(name),
                    bindings=_numbers(bindings),
                    constants=_numbers(constants),
                    workgroup_size=(int(size[0]), int(size[1]), int(size[2])),
                    groups=int(groups),
                    location=str(location),
                    members=_numbers(members),
                )
                for name, bindings, constants, size, groups, location, members in data["kernels"]
            ),
        )


def _numbers(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _instruction(words: Any) -> Instruction:
    name, *operands = words  # `ValueError` for none
    return (str(name), *map(_freeze, operands))


def _freeze(value: Any) -> Scalar:
    if isinstance(value, list | tuple):
        return tuple(_freeze(item) for item in value)
    if value is None or isinstance(value, int | float | str):
        return value
    msg = f"expected a number, a text or a list, found {type(value).__name__}"
    raise ValueError(msg)
