"""What a kernel is made of: values, ops, bindings, and its body as nodes.

The writer builds the nodes, the passes analyse and change them, and `text_of` prints them last. Every SPIR-V op that
leaves text becomes one `Statement`: its operands, and what it reads and writes in memory, are the op's own. Block
arguments are variables, which only an `Assign` changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from retarget_opencl.clc.types import Pointer, SpirvType, TypeNames, TypeSyntaxError
from retarget_opencl.translation import Ir


class Place(Struct, frozen=True):
    """Where a location lies in `memory`: a binding (of the storage class `StorageBuffer`) or a variable.

    `steps` are indices with the bytes that each step takes; None if they are not known.
    """

    memory: str
    storage: str
    steps: tuple[tuple[Value, int], ...] | None = ()


class Value(Struct, eq=False):
    """An SSA value, or a location in memory when `kind` is a pointer.

    `text` is a C expression that needs no parentheses: a name, a literal, a call, an indexing. For a location it is an
    lvalue (or, for the array that a binding is, the pointer to its first element). `parts` are the texts of the
    elements where they are known (built-in ids). `number` is the constant's value, `built_in` the SPIR-V built-in that
    it is or, with `axis`, an element of; `place` is where a location lies. `parents` are the values that `text`
    mentions when it is repeated rather than named.
    """

    text: str
    kind: SpirvType
    parts: tuple[str, ...] = ()
    number: int | None = None
    parents: tuple[Value, ...] = ()
    built_in: str = ""
    axis: int | None = None
    place: Place | None = None

    @property
    def pointer(self) -> Pointer:
        """The type of a location in memory. Raises `TypeSyntaxError` for another value."""
        if isinstance(self.kind, Pointer):
            return self.kind
        msg = f"expected a pointer, found {self.kind}"
        raise TypeSyntaxError(msg)


class Op(Struct):
    """One op with its operands already looked up."""

    name: str
    ir: Ir
    operands: list[Value]
    result: SpirvType | None

    @property
    def kind(self) -> SpirvType:
        """The type of the result. Raises `TypeSyntaxError` for an op without."""
        if self.result is not None:
            return self.result
        msg = "expected a result"
        raise TypeSyntaxError(msg)

    def attribute(self, name: str) -> Ir:
        """Return an attribute; None if the op does not have it."""
        attributes = self.ir.attributes
        return attributes[name] if name in attributes else None  # noqa: SIM401  (an MLIR dictionary has no get)


class KernelText(Struct, frozen=True, kw_only=True):
    """A kernel in OpenCL C. `parameters` and `lines` are text; the rest is what a caller has to know.

    `bindings` and `constants` (ordinals of buffers and push constants) are in the order of the parameters: for each
    binding its buffer and its offset in bytes (`ulong`), then each constant as `uint`. `local_memory` is in bytes.
    `functions` are those that it calls, `features` what it needs of a device, `helpers` and `typedefs` what it needs of
    the text before it. `bfloat16`: floats of 16 bits are bf16.
    """

    name: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    bindings: tuple[int, ...]
    constants: tuple[int, ...]
    workgroup_size: tuple[int, int, int]
    local_memory: int = 0
    comment: str = ""
    functions: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()
    typedefs: tuple[str, ...] = ()
    bfloat16: bool = False


_FENCES = {"local": "CLK_LOCAL_MEM_FENCE", "global": "CLK_GLOBAL_MEM_FENCE"}


class Access(Struct, frozen=True):
    """What a statement does at a place: `read`, `write`, or `atomic`.

    `size` is in bytes; None for an access that reaches beyond its place. `tile` is the (rows, stride in bytes) of one
    that a subgroup makes together, `size` being a row's.
    """

    place: Place
    mode: str
    size: int | None
    tile: tuple[int, int] | None = None


class Statement(Struct, eq=False):
    """One op: lines of C without semicolons, and the value that `text` computes, if it defines one."""

    op: str
    operands: tuple[Value, ...] = ()
    lines: list[str] = field(default_factory=list)
    defines: Value | None = None
    text: str = ""
    accesses: tuple[Access, ...] = ()


class Assign(Struct, eq=False):
    """A variable takes a value."""

    variable: Value
    value: Value


class Barrier(Struct, eq=False):
    """Every work-item of the group waits here; `fences` (of `local` and `global`) say which memory is then in order."""

    fences: set[str]


class Leave(Struct, eq=False):
    """`break` or `continue` of the innermost loop."""

    word: str


class If(Struct, eq=False):
    """`condition` (or, if `negated`, its opposite) chooses between two bodies."""

    condition: Value
    then: list[Node]
    orelse: list[Node] = field(default_factory=list)
    negated: bool = False


class Loop(Struct, eq=False):
    """Repeats its body until it is left."""

    body: list[Node]


Node = Statement | Assign | Barrier | Leave | If | Loop


def children(node: Node) -> tuple[list[Node], ...]:
    """Return the bodies of a node."""
    if isinstance(node, If):
        return (node.then, node.orelse)
    return (node.body,) if isinstance(node, Loop) else ()


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes and all that is in them, in the order of the text."""
    for node in nodes:
        yield node
        for body in children(node):
            yield from walk(body)


def uses(node: Node) -> Iterator[Value]:
    """Yield the values whose text the node's own lines may mention, bodies aside."""
    given: Sequence[Value] = ()
    if isinstance(node, Statement):
        given = node.operands
    elif isinstance(node, Assign):
        given = (node.value,)
    elif isinstance(node, If):
        given = (node.condition,)
    for value in given:
        yield from _mentioned(value)


def _mentioned(value: Value) -> Iterator[Value]:
    yield value
    for parent in value.parents:
        yield from _mentioned(parent)


def _hoisted(nodes: Sequence[Node]) -> dict[Value, None]:
    """Return the values that are used outside the block that defines them."""
    found: dict[Value, None] = {}
    defined: set[Value] = set()
    open_: set[Value] = set()

    def visit(body: Sequence[Node]) -> None:
        here: list[Value] = []
        for node in body:
            found.update((value, None) for value in uses(node) if value in defined and value not in open_)
            for inner in children(node):
                visit(inner)
            if isinstance(node, Statement) and node.defines is not None:
                here.append(node.defines)
                defined.add(node.defines)
                open_.add(node.defines)
        open_.difference_update(here)

    visit(nodes)
    return found


def _test(loop: Loop, used: Mapping[Value, int]) -> Statement | None:
    """Return the statement with which a loop begins, if all that its value decides is whether the loop ends."""
    match loop.body:
        case [
            Statement(lines=[], defines=Value() as value) as test,
            If(condition=condition, then=[Leave(word="break")], orelse=[], negated=True),
            *_,
        ] if condition is value and used[value] == 1:
            return test
    return None


def text_of(nodes: Sequence[Node], names: TypeNames) -> Iterator[str]:
    """Yield the lines of a kernel's body: what must be declared at its top, then its statements."""
    hoisted = _hoisted(nodes)
    used = Counter(value for node in walk(nodes) for value in uses(node))
    kinds: dict[str, list[str]] = {}
    for value in hoisted:
        kinds.setdefault(names.value(value.kind), []).append(value.text)
    yield from (f"    {kind} {', '.join(texts)};" for kind, texts in kinds.items())

    def block(body: Sequence[Node], pad: str) -> Iterator[str]:
        for node in body:
            yield from lines(node, pad)

    def lines(node: Node, pad: str) -> Iterator[str]:
        if isinstance(node, Statement):
            yield from (f"{pad}{line};" for line in node.lines)
            value = node.defines
            if value is not None:
                kind = "" if value in hoisted else f"const {names.value(value.kind)} "
                yield f"{pad}{kind}{value.text} = {node.text};"
        elif isinstance(node, Assign):
            yield f"{pad}{node.variable.text} = {node.value.text};"
        elif isinstance(node, Barrier):
            yield f"{pad}barrier({' | '.join(sorted(_FENCES[fence] for fence in node.fences))});"
        elif isinstance(node, Leave):
            yield f"{pad}{node.word};"
        elif isinstance(node, Loop):
            # PoCL 3.0 took minutes to compile three nested loops that a `break` ended, and a second for these.
            test = _test(node, used)
            yield f"{pad}for (;;) {{" if test is None else f"{pad}while ({test.text}) {{"
            yield from block(node.body if test is None else node.body[2:], pad + "    ")
            yield f"{pad}}}"
        else:
            yield f"{pad}if ({'!' if node.negated else ''}{node.condition.text}) {{"
            yield from block(node.then, pad + "    ")
            if node.orelse:
                yield f"{pad}}} else {{"
                yield from block(node.orelse, pad + "    ")
            yield f"{pad}}}"

    yield from block(nodes, "    ")
