"""One generated module: its functions, the inputs they call, the checks of their results.

A module is text that a person can read: expected values are written as numbers, inputs either as numbers or as a
formula over their indices (see `arrays`). The seed of a formula is a value that the compiler cannot see, and a barrier
follows it, so that neither constant folding nor fusion removes the input.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import dataclass, field
from string import Template

import numpy as np

from generator.support.arrays import FACTORS, NAMES, Approximate, Array, dense, exactly, pattern, source, type_of

LARGEST_LISTED = 1200  # elements; larger results are checked through weighted sums along rows and columns


def _ops(text: str, inputs: dict[str, str]) -> str:
    """Write two shorthands in full.

    `%x = @name` calls an input; `%x, %y = @first, @second` calls two. `%init = filled 0.0 : tensor<...>` fills a new
    tensor with a constant, which is called %zero; `filled start = 1.0` calls it %start.
    """

    def fill(found: re.Match[str]) -> str:
        indent, name, value, kind = found.groups()
        start, element = f"%{name or 'zero'}", _element(kind)
        return (
            f"{indent}{start} = arith.constant {value} : {element}\n"
            f"{indent}%empty = tensor.empty() : {kind}\n"
            f"{indent}%init = linalg.fill ins({start} : {element}) outs(%empty : {kind}) -> {kind}"
        )

    def call(found: re.Match[str]) -> str:
        indent, values, names = found.groups()
        pairs = zip(values.split(", "), names.split(", "), strict=True)
        return "\n".join(f"{indent}{value} = call {name}() : () -> {inputs[name[1:]]}" for value, name in pairs)

    text = re.sub(r"^( *)(%\w+(?:, %\w+)*) = (@\w+(?:, @\w+)*)$", call, text, flags=re.MULTILINE)
    return re.sub(r"^( *)%init = filled (?:(\w+) = )?(\S+) : (tensor<\S+>)$", fill, text, flags=re.MULTILINE)


def _element(kind: str) -> str:
    return kind.removeprefix("tensor<").removesuffix(">").rpartition("x")[2]


def applied(op: str, out: str, *kinds: str) -> str:
    """Return ops that apply `op` to the elements of the vectors %x and %y, which it names %a and %b, or %v.

    `op` ends in its types where they are not just that of the operands.
    """
    op = op if " : " in op else f"{op} : {_element(kinds[0])}"
    elements = sorted(set(re.findall(r"%[abv]\b", op)))
    arguments = [f"{name}: {_element(kind)}" for name, kind in zip(elements, kinds, strict=True)]
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (len(kinds) + 1))
    return f"""
        %empty = tensor.empty() : {out}
        %out = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
            ins({", ".join(["%x", "%y"][: len(kinds)])} : {", ".join(kinds)}) outs(%empty : {out}) {{
        ^bb0({", ".join(arguments)}, %unused: {_element(out)}):
          %r = {op}
          linalg.yield %r : {_element(out)}
        }} -> {out}
        """


def _in_stablehlo(name: str, kind: str, element: str, rank: int, formula: tuple[int, int, int]) -> str:
    """Return the function of an input for any compiler of StableHLO: that of other suites has loops of linalg."""
    seed, modulus, shift = formula
    whole = kind.removesuffix(f"{element}>") + "i32>"
    lines = [
        f"func.func private @{name}() -> {kind} {{",
        f"  %seed = util.unfoldable_constant dense<{seed}> : tensor<i32>",
        f"  %modulus = stablehlo.constant dense<{modulus}> : {whole}",
        f"  %shift = stablehlo.constant dense<{shift}> : {whole}",
        f"  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> {whole}",
    ]
    last = "%t"
    for d in range(rank):
        lines += [
            f"  %i{d} = stablehlo.iota dim = {d} : {whole}",
            f"  %factor{d} = stablehlo.constant dense<{FACTORS[d]}> : {whole}",
            f"  %p{d} = stablehlo.multiply %i{d}, %factor{d} : {whole}",
            f"  %t{d} = stablehlo.add {last}, %p{d} : {whole}",
        ]
        last = f"%t{d}"
    lines += [
        f"  %square = stablehlo.multiply {last}, {last} : {whole}",
        f"  %rest = stablehlo.remainder %square, %modulus : {whole}",
        f"  %number = stablehlo.subtract %rest, %shift : {whole}",
        f"  %value = stablehlo.convert %number : ({whole}) -> {kind}",
        f"  %hidden = util.optimization_barrier %value : {kind}",
        f"  return %hidden : {kind}",
        "}",
    ]
    return "\n".join(lines)


@dataclass(slots=True, kw_only=True)
class Module:
    """One generated module. `path` is below suites/, without suffix; `about` is its comment, `generator` its author."""

    path: str
    about: str
    generator: str
    parts: list[str] = field(default_factory=list)
    helpers: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)

    def input(
        self, name: str, shape: tuple[int, ...], element: str = "f32", *, seed: int,
        modulus: int = 11, shift: int = 5, scale: float = 1.0,
    ) -> Array:  # fmt: skip
        """Add a private function `@name` that makes the formula's values; return them in float64."""
        values = pattern(shape, seed=seed, modulus=modulus, shift=shift, scale=scale)
        kind = self.inputs[name] = type_of(values, element)
        if self.path.startswith("stablehlo/") and scale == 1.0:
            self.helpers[name] = _in_stablehlo(name, kind, element, len(shape), (seed, modulus, shift))
            return values
        rank = len(shape)
        dims, parallel = ", ".join(f"d{d}" for d in range(rank)), ", ".join(['"parallel"'] * rank)
        lines = [
            f"func.func private @{name}() -> {kind} {{",
            f"  %seed = util.unfoldable_constant {seed} : i32",
            f"  %modulus = arith.constant {modulus} : i32",
            f"  %shift = arith.constant {shift} : i32",
            *(f"  %factor{d} = arith.constant {FACTORS[d]} : i32" for d in range(rank)),
            f"  %empty = tensor.empty() : {kind}",
            f"  %made = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>],",
            f"      iterator_types = [{parallel}]}} outs(%empty : {kind}) {{",
            f"  ^bb0(%unused: {element}):",
        ]
        last = "%seed"
        for d in range(rank):
            lines += [
                f"    %index{d} = linalg.index {d} : index",
                f"    %i{d} = arith.index_cast %index{d} : index to i32",
                f"    %p{d} = arith.muli %i{d}, %factor{d} : i32",
                f"    %t{d} = arith.addi {last}, %p{d} : i32",
            ]
            last = f"%t{d}"
        lines += [
            f"    %square = arith.muli {last}, {last} : i32",
            "    %rest = arith.remui %square, %modulus : i32",
            "    %number = arith.subi %rest, %shift : i32",
        ]
        result = "%number"
        if element.startswith(("f", "bf")):
            lines.append(f"    %value = arith.sitofp %number : i32 to {element}")
            result = "%value"
            if scale != 1.0:
                lines += [
                    f"    %scale = arith.constant {scale!r} : {element}",
                    f"    %scaled = arith.mulf %value, %scale : {element}",
                ]
                result = "%scaled"
        elif element != "i32":
            cast = "extsi" if element == "i64" else "trunci"
            lines.append(f"    %value = arith.{cast} %number : i32 to {element}")
            result = "%value"
        lines += [
            f"    linalg.yield {result} : {element}",
            f"  }} -> {kind}",
            f"  %hidden = util.optimization_barrier %made : {kind}",
            f"  return %hidden : {kind}",
            "}",
        ]
        self.helpers[name] = "\n".join(lines)
        return values

    def function(
        self, name: str, body: str, checks: dict[str, Array | Approximate], *, attributes: str = "", **values: object
    ) -> None:
        """Add a function: `body` with its `$placeholders` filled, then one check per (value name, expected).

        Arrays become constants. The function begins with the values for which the body has no placeholder.
        """
        filled = {key: source(value) if isinstance(value, np.ndarray) else str(value) for key, value in values.items()}
        named = Template(body).get_identifiers()
        first = [f"%{key} = ${key}" for key in filled if key not in named]
        body = ("\n" + " " * 8).join([*first, body.lstrip("\n ")]) if first else body
        text = Template(textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")).substitute(filled)
        lines = [f"func.func @{name}() {attributes}{{", _ops(text, self.inputs)]
        for value, expected in checks.items():
            lines.append(self._check(value, expected))
        self.parts.append("\n".join([*lines, "  return", "}"]))

    def elementwise(
        self, name: str, op: str, expected: Array | Approximate, *operands: Array, element: str | None = None
    ) -> None:
        """Add a function that applies `op` to the elements of one or two vectors, %x and %y, and checks the result.

        See `applied`; `element` is the element type of the operands where NumPy has none.
        """
        out = type_of(expected.value, expected.element) if isinstance(expected, Approximate) else type_of(expected)
        body = applied(op, out, *(type_of(operand, element) for operand in operands))
        values = {key: source(operand, element) for key, operand in zip("xy", operands, strict=False)}
        self.function(name, body, {"%out": expected}, **values)

    def verbatim(self, text: str, **values: str) -> None:
        """Add text as it stands, `$placeholders` filled."""
        self.parts.append(Template(textwrap.dedent(text).strip("\n")).substitute(values))

    def _check(self, value: str, expected: Array | Approximate) -> str:
        if isinstance(expected, Approximate):
            kind = type_of(expected.value, expected.element)
            bounds = f", atol {expected.atol:.2e}, rtol {expected.rtol:.2e}"
            return (
                f"  check.expect_almost_eq_const({value}, {dense(expected.value, expected.element)}{bounds}) : {kind}"
            )
        if expected.size > LARGEST_LISTED:
            return self._check_sums(value, expected)
        return f"  check.expect_eq_const({value}, {dense(expected)}) : {type_of(expected)}"

    def _check_sums(self, value: str, expected: Array) -> str:
        """Check a large result through sums along its rows and its columns, weighted 1 to 7 by position.

        One wrong element shows in both; the sums are exact because all partial sums are integers below 2**24.
        """
        flat = expected.reshape(-1, expected.shape[-1]).astype(np.float64)
        kind = type_of(flat.astype(expected.dtype))
        tag = kind.removeprefix("tensor<").removesuffix(">")
        element = NAMES[expected.dtype.name]
        rows = 1.0 + (np.arange(flat.shape[1]) * 5) % 7
        columns = 1.0 + (np.arange(flat.shape[0]) * 5) % 7
        if max((abs(flat) @ rows).max(), (columns @ abs(flat)).max()) >= 2**24 or (flat != np.rint(flat)).any():
            msg = f"{self.path}: weighted sums of {value} are not exact"
            raise ValueError(msg)
        name = value.removeprefix("%")
        lines = [f"  // {expected.size} elements: checked through weighted sums (see the comment at the top)."]
        source_name = value
        if expected.ndim != 2:
            source_name = f"%{name}_flat"
            leading = ", ".join(str(d) for d in range(expected.ndim - 1))
            lines.append(
                f"  {source_name} = tensor.collapse_shape {value} [[{leading}], [{expected.ndim - 1}]] : {type_of(expected)} into {kind}"
            )
        lines.append(f"  %{name}_kept = util.optimization_barrier {source_name} : {kind}")
        for axis, sums in ((0, flat @ rows), (1, columns @ flat)):
            which = ("rows", "columns")[axis]
            want = exactly(sums, expected.dtype)
            self.helpers[f"weigh_{which}_{tag}"] = self._weigh(
                f"weigh_{which}_{tag}", kind, type_of(want), element, axis
            )
            lines.append(f"  %{name}_{which} = call @weigh_{which}_{tag}(%{name}_kept) : ({kind}) -> {type_of(want)}")
            lines.append(f"  check.expect_eq_const(%{name}_{which}, {dense(want)}) : {type_of(want)}")
        return "\n".join(lines)

    @staticmethod
    def _weigh(name: str, kind: str, result: str, element: str, axis: int) -> str:
        floating = element.startswith("f")
        zero = "0.0" if floating else "0"
        iterators = '"parallel", "reduction"' if axis == 0 else '"reduction", "parallel"'
        length = kind.removeprefix("tensor<").split("x")[1 - axis]
        weights = f"tensor<{length}x{element}>"
        weight = "%weight" if element == "i32" else "%w"
        convert = [] if element == "i32" else [f"    %w = arith.sitofp %weight : i32 to {element}"]
        maps = (
            f"affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ({'ji'[axis]})>, affine_map<(i, j) -> ({'ij'[axis]})>"
        )
        return "\n".join(
            [
                f"func.func private @{name}(%x: {kind}) -> {result} {{",
                f"  %zero = arith.constant {zero} : {element}",
                "  %c1 = arith.constant 1 : i32",
                "  %c5 = arith.constant 5 : i32",
                "  %c7 = arith.constant 7 : i32",
                f"  %room = tensor.empty() : {weights}",
                "  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],",
                f'      iterator_types = ["parallel"]}} outs(%room : {weights}) {{',
                f"  ^bb0(%unused: {element}):",
                "    %index = linalg.index 0 : index",
                "    %i = arith.index_cast %index : index to i32",
                "    %p = arith.muli %i, %c5 : i32",
                "    %rest = arith.remui %p, %c7 : i32",
                "    %weight = arith.addi %rest, %c1 : i32",
                *convert,
                f"    linalg.yield {weight} : {element}",
                f"  }} -> {weights}",
                f"  %weights = util.optimization_barrier %made : {weights}",
                f"  %empty = tensor.empty() : {result}",
                f"  %init = linalg.fill ins(%zero : {element}) outs(%empty : {result}) -> {result}",
                f"  %sums = linalg.generic {{indexing_maps = [{maps}],",
                f"      iterator_types = [{iterators}]}} ins(%x, %weights : {kind}, {weights}) outs(%init : {result}) {{",
                f"  ^bb0(%v: {element}, %weight: {element}, %sum: {element}):",
                f"    %term = arith.mul{'f' if floating else 'i'} %v, %weight : {element}",
                f"    %next = arith.add{'f' if floating else 'i'} %sum, %term : {element}",
                f"    linalg.yield %next : {element}",
                f"  }} -> {result}",
                f"  return %sums : {result}",
                "}",
            ]
        )

    def text(self) -> str:
        """Return the whole module, ending in a newline."""
        about = inspect.cleandoc(self.about).splitlines()
        notes = [f"Written by suites/generate.py from {self.generator}; change it there."]
        if any("_kept = util" in part for part in self.parts):
            notes.insert(
                0,
                "Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),",
            )
            notes.insert(1, "which are exact in the element type: one wrong element shows in one of each.")
        if any("%modulus" in helper for helper in self.helpers.values()):
            notes.insert(
                0,
                "Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.",
            )
        comment = "\n".join(f"// {line}".rstrip() for line in [*about, "", *notes])
        return "\n\n".join([comment, *self.helpers.values(), *self.parts]) + "\n"
