"""Generated kernels: run in step as IREE wrote them, and with work-items in any order with the pass's barriers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from node_kernels import DivergentBarrierError, Kernel, Memory, run_in_step, run_permuted
from retarget_opencl.clc import barriers
from retarget_opencl.clc.nodes import Value

KERNELS = 80
ORDERS = 5
SIZES = ((4, 1, 1), (2, 3, 1), (2, 2, 2))
NODES = (
    *("store", "store", "store", "load", "load", "op", "if", "if", "loop", "loop"),
    *("barrier", "sum", "total", "add"),
)
_Dims = frozenset[int]


@dataclass
class _Generator:
    """Writes a kernel whose result in step is the only one that it can have.

    Values come with the dimensions of the local id that they depend on. What several work-items write to one place
    at once depends on none of the dimensions in which these differ.
    """

    random: random.Random
    kernel: Kernel

    def write(self) -> None:
        k, size = self.kernel, self.kernel.size
        self.ids = [k.id(axis) for axis in range(3)]
        self.wide = frozenset(axis for axis in range(3) if size[axis] > 1)
        self.line = k.op(
            "IAdd", self.ids[0], k.op("IMul", k.op("IAdd", self.ids[1], k.op("IMul", self.ids[2], size[1])), size[0])
        )
        self.counters: list[Value] = []
        self.count = size[0] * size[1] * size[2]
        self.body(3, [(k.value(3), frozenset())], frozenset(), plain=True)

    def total(self, memory: str) -> None:
        """Write a loop in which several work-items may sum up the same, as IREE does."""
        k, choice = self.kernel, self.random
        axis = choice.choice([None, *sorted(self.wide)])
        at = k.value(2) if axis is None else self.ids[axis]
        last = k.variable(0)
        with k.loop(2 if axis is None else k.op("IAdd", self.ids[axis], 1)):
            total = k.op("IAdd", k.load(memory, at), 1)
            k.store(memory, at, total)
            if choice.random() < 0.3:
                k.atomic("counts", at, 1)
            k.assign(last, total)
        if choice.random() < 0.3:
            k.store("last", self.line, last)

    def place(self) -> tuple[Value, _Dims]:  # noqa: PLR0911 - one return per kind of place
        """Return an index, and the dimensions that tell work-items with different ones apart."""
        k = self.kernel
        kind = self.random.randrange(7)
        if kind == 0:
            return self.line, self.wide
        if kind == 1:
            return k.op("ISub", self.count - 1, self.line), self.wide
        if kind == 2:
            return k.op("IAdd", self.line, self.random.randrange(3)), self.wide
        if kind == 3 and self.counters:
            return k.op("IAdd", self.line, self.random.choice(self.counters)), self.wide
        if kind == 4 and self.counters:
            far = k.op("IMul", self.random.choice(self.counters), self.count)
            return k.op("IAdd", self.line, far), self.wide
        if kind == 5:
            return k.value(self.random.randrange(4)), frozenset()
        axis = self.random.choice(sorted(self.wide))
        return k.op("IMul", self.ids[axis], self.random.randrange(1, 3)), frozenset({axis})

    def body(self, depth: int, values: list[tuple[Value, _Dims]], control: _Dims, *, plain: bool) -> None:
        """Write some nodes. `plain` where all work-items come together."""
        k, choice = self.kernel, self.random
        values = list(values)
        for _ in range(choice.randrange(2, 6)):
            kind = choice.choice(NODES)
            memory = choice.choice(("sums", "out"))
            at, dims = self.place()
            if kind == "store":
                given = [value for value, needs in values if needs <= dims]
                k.store(memory, at, choice.choice(given or [k.value(7)]))
            elif kind == "load":
                values.append((k.load(memory, at), dims))
            elif kind == "op":
                (a, first), (b, second) = choice.choice(values), choice.choice([*values, (self.line, self.wide)])
                values.append((k.op("IAdd", k.op("IMul", a, 3), b), first | second))
            elif kind == "if" and depth:
                axis = choice.choice([None, *sorted(self.wide)])
                condition = k.op("SLessThan", choice.randrange(2), 1 if axis is None else self.ids[axis])
                inner = control | ({axis} if axis is not None else set())
                changing = k.variable(condition)
                changes = choice.random() < 0.3
                with k.when(changing if changes else condition, negated=choice.random() < 0.3):
                    if changes:
                        k.assign(changing, choice.randrange(2))
                    self.body(depth - 1, values, inner, plain=plain and axis is None)
                if choice.random() < 0.5:
                    with k.otherwise():
                        self.body(depth - 1, values, inner, plain=plain and axis is None)
            elif kind == "loop" and depth:
                axis = choice.choice([None, None, None, *sorted(self.wide)])
                with k.loop(2 if axis is None else self.ids[axis]) as counter:
                    more = [*values, (counter, frozenset[int]())]
                    self.counters.append(counter)
                    self.body(
                        depth - 1, more, control | ({axis} if axis is not None else set()), plain=plain and axis is None
                    )
                    self.counters.pop()
            elif kind == "barrier" and plain:
                k.barrier(choice.choice(("local", "global")))
            elif kind == "add":
                k.atomic("counts", at, 1)
            elif kind == "total":
                self.total(memory)
            elif kind == "sum":
                total = k.op(
                    "IAdd", k.load(memory, at), choice.choice([1, *(v for v, needs in values if needs <= dims)])
                )
                k.store(memory, at, total)


def generated(seed: int) -> Kernel:
    choice = random.Random(seed)  # noqa: S311
    kernel = Kernel(choice.choice(SIZES))
    _Generator(choice, kernel).write()
    return kernel


def wrong(seeds: range) -> tuple[int, int]:
    """Return how many kernels could be put in order, and how many of these went wrong in one order at least."""
    ordered = failed = 0
    for seed in seeds:
        kernel = generated(seed)
        expected: Memory = run_in_step(kernel.nodes, kernel.size)
        nodes, races = barriers.ordered(kernel.nodes, kernel.size, kernel.name)
        if races:
            continue
        ordered += 1
        try:
            failed += any(run_permuted(nodes, kernel.size, seed * 1000 + order) != expected for order in range(ORDERS))
        except DivergentBarrierError:
            failed += 1
    return ordered, failed


def test_any_order_of_work_items_gives_what_they_give_in_step() -> None:
    ordered, failed = wrong(range(KERNELS))
    assert failed == 0
    assert ordered > KERNELS / 3


@pytest.mark.exhaustive
def test_many_more_agree() -> None:
    assert wrong(range(KERNELS, 1000))[1] == 0


def test_a_barrier_that_some_do_not_reach_is_an_error() -> None:
    kernel = Kernel()
    with kernel.when(kernel.op("SLessThan", kernel.id(), 2)):
        kernel.barrier("local")
    with pytest.raises(DivergentBarrierError, match="2 work-items ended, 2 wait at 1 barriers"):
        run_permuted(kernel.nodes, kernel.size, 0)
