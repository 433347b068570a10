"""How loops are printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from node_kernels import Kernel
from retarget_opencl.clc.nodes import If, Leave, Loop


def _loop(kernel: Kernel) -> tuple[Loop, If]:
    """Return the kernel's one loop, and the `if` that ends it."""
    (loop,) = (node for node in kernel.nodes if isinstance(node, Loop))
    leaving = loop.body[1]
    assert isinstance(leaving, If)
    return loop, leaving


def _kernel() -> Kernel:
    k = Kernel()
    with k.loop(3) as i:
        k.store("sums", i, 1)
    return k


def test_a_test_at_the_top_becomes_the_condition() -> None:
    k = _kernel()
    assert k.text(k.nodes).splitlines()[1:3] == ["while (i1 < 3) {", "    sums[i1] = 1;"]


def _uses_it_again(k: Kernel) -> None:
    loop, leaving = _loop(k)
    loop.body.append(If(leaving.condition, [Leave("continue")]))


def _does_more_then(k: Kernel) -> None:
    _, leaving = _loop(k)
    value = k.value(1)
    k.assign(k.variable(0), value)
    leaving.then.insert(0, k.nodes.pop())


def _leaves_the_kernel(k: Kernel) -> None:
    _, leaving = _loop(k)
    leaving.then = [Leave("return")]


def _leaves_where_it_holds(k: Kernel) -> None:
    _, leaving = _loop(k)
    leaving.negated = False


def _does_something_otherwise(k: Kernel) -> None:
    _, leaving = _loop(k)
    leaving.orelse = [Leave("continue")]


def _tests_another_value(k: Kernel) -> None:
    _, leaving = _loop(k)
    leaving.condition = k.op("SLessThan", 1, 2)


@pytest.mark.parametrize(
    "change",
    [
        _uses_it_again,
        _does_more_then,
        _leaves_the_kernel,
        _leaves_where_it_holds,
        _does_something_otherwise,
        _tests_another_value,
    ],
)
def test_any_other_loop_stays_as_it_is(change: Callable[[Kernel], None]) -> None:
    k = _kernel()
    change(k)
    assert "for (;;) {\n    const bool v2 = i1 < 3;" in k.text(k.nodes)
