"""Where `ordered` puts barriers, and a module that IREE compiles without the ones that it needs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from node_kernels import INT, Kernel
from retarget_opencl.clc.nodes import Access, Leave, Place, Statement, Value


def count(kernel: Kernel) -> int:
    return kernel.text().count("barrier(")


def expect(kernel: Kernel, text: str) -> None:
    assert kernel.text() == textwrap.dedent(text).strip()


def _own_place(k: Kernel) -> None:
    k.store("sums", k.op("IMul", k.id(), 2), 1)
    k.load("sums", k.op("IMul", k.id(), 2))


def _only_read(k: Kernel) -> None:
    k.load("sums", 0)
    k.load("sums", k.id())


def _other_memory(k: Kernel) -> None:
    k.store("sums", k.id(), 1)
    k.load("tops", 0)


def _barrier_there(k: Kernel) -> None:
    k.store("sums", k.id(), 1)
    k.barrier("local")
    k.load("sums", 0)


def _far_apart(k: Kernel) -> None:
    x = k.id()
    k.store("sums", x, 1)
    k.store("sums", k.op("IAdd", x, 4), 1)


def _one_alone(k: Kernel) -> None:
    with k.when(k.op("IEqual", k.id(), 0)):
        k.store("sums", 3, 1)
        k.load("sums", 3)


def _groups_apart(k: Kernel) -> None:
    at = k.op("IAdd", k.op("IMul", k.group(), 4), k.id())
    k.store("out", at, 1)
    k.load("out", at)


def _atomics(k: Kernel) -> None:
    k.atomic("sums", 0, 1)
    k.atomic("sums", 0, 2)


def _own_variable(k: Kernel) -> None:
    own = Place("own", "Function")
    k.id()
    for mode in ("write", "read"):
        k.nodes.append(Statement("spirv.Use", lines=["own"], accesses=(Access(own, mode, 4),)))


def _barrier_in_the_loop(k: Kernel) -> None:
    k.store("sums", k.id(), 1)
    with k.loop(3):
        k.barrier("local")
        k.load("sums", 0)


def _strided(k: Kernel) -> None:
    with k.loop(8, first=k.id(), step=4) as i:
        k.store("sums", i, 1)
    with k.loop(8, first=k.id(), step=4) as i:
        k.load("sums", i)


def _own_place_in_each_round(k: Kernel) -> None:
    x = k.id()
    with k.loop(k.group(), step=4) as i, k.loop(k.group(), step=4) as j:
        at = k.op("IAdd", k.op("IAdd", i, j), x)
        k.store("sums", at, 1)
        k.load("sums", at)
        k.barrier("local")


@pytest.mark.parametrize(
    ("write", "barriers"),
    [
        (_own_place, 0),
        (_only_read, 0),
        (_other_memory, 0),
        (_barrier_there, 1),
        (_far_apart, 0),
        (_one_alone, 0),
        (_groups_apart, 0),
        (_atomics, 0),
        (_strided, 0),
        (_own_variable, 0),
        (_barrier_in_the_loop, 1),
        (_own_place_in_each_round, 1),
    ],
)
def test_no_barrier_where_none_is_needed(write: Callable[[Kernel], None], barriers: int) -> None:
    k = Kernel()
    write(k)
    assert count(k) == barriers


# ------------------------------------------------------------ what the pass on text got wrong


def test_else_that_uses_what_then_wrote_comes_after_a_barrier_for_all() -> None:
    k = Kernel()
    x = k.id()
    with k.when(k.op("SLessThan", x, 2)):
        k.store("sums", x, 1)
    with k.otherwise():
        k.store("out", x, k.load("sums", k.op("ISub", 3, x)))
    expect(
        k,
        """
        const uint x = get_local_id(0);
        const bool v1 = x < 2;
        if (v1) {
            sums[x] = 1;
        }
        barrier(local);
        if (!v1) {
            const uint v2 = 3 - x;
            const uint v3 = sums[v2];
            out[x] = v3;
        }
        """,
    )


def test_no_barrier_is_left_to_one_work_item() -> None:
    k = Kernel()
    k.store("sums", k.id(), 0)
    with k.loop(3):
        k.store("sums", 0, k.op("IAdd", k.load("sums", 0), 1))
        k.barrier("local")
    assert [line for line in k.text().splitlines() if "barrier" in line or "get_local_id(0) == 0" in line] == [
        "barrier(local);",  # before the loop
        "    barrier(local);",  # between the load and the store
        "    barrier(local);",  # that was there
    ]


@pytest.mark.parametrize("op", ["UDiv", "UMod"])
def test_a_place_that_several_share_is_no_ones_own(op: str) -> None:
    k = Kernel((8, 1, 1))
    x = k.id()
    k.store("sums", k.op(op, x, 4), x)
    k.load("sums", k.op(op, x, 4))
    assert count(k) == 1


def test_a_local_fence_orders_no_global_memory() -> None:
    k = Kernel()
    x = k.id()
    k.store("out", x, 1)
    k.store("sums", x, 1)
    k.barrier("local")
    back = k.op("ISub", 3, x)
    k.load("sums", back)
    k.load("out", back)
    assert [line for line in k.text().splitlines() if "barrier" in line] == ["barrier(global | local);"]


def test_a_barrier_without_fences_gets_those_that_are_needed_after_it() -> None:
    k = Kernel()
    x = k.id()
    k.store("out", x, 1)
    k.store("sums", x, 1)
    k.store("tops", x, 1)
    k.barrier()
    for memory in ("out", "sums", "out"):
        k.load(memory, k.op("ISub", 3, x))
    assert [line for line in k.text().splitlines() if "barrier" in line] == ["barrier(global | local);"]


# ------------------------------------------------------------ control flow


def test_an_if_is_closed_for_a_barrier_and_values_that_live_on_are_declared_at_the_top() -> None:
    k = Kernel()
    x = k.id()
    with k.when(k.op("SLessThan", x, 3)):
        double = k.op("IMul", x, 2)
        k.store("sums", x, 1)
        k.store("tops", x, k.load("sums", k.op("ISub", 3, x)))
        k.store("out", double, 1)
    expect(
        k,
        """
        uint v2;
        uint v3;
        const uint x = get_local_id(0);
        const bool v1 = x < 3;
        if (v1) {
            v2 = x * 2;
            sums[x] = 1;
            v3 = 3 - x;
        }
        barrier(local);
        if (v1) {
            const uint v4 = sums[v3];
            tops[x] = v4;
            out[v2] = 1;
        }
        """.replace("uint v2;\n        uint v3;", "uint v3, v2;"),
    )


def test_a_condition_that_may_change_is_kept() -> None:
    k = Kernel()
    x = k.id()
    going = k.variable(x)
    with k.when(going):
        k.store("sums", x, 1)
        k.assign(going, 0)
        k.load("sums", 0)
    assert k.text().splitlines()[2:] == [
        "const uint v3 = i1;",
        "if (v3) {",
        "    sums[x] = 1;",
        "    i1 = 0;",
        "}",
        "barrier(local);",
        "if (v3) {",
        "    const uint v2 = sums[0];",
        "}",
    ]


def test_what_a_round_of_a_loop_writes_is_pending_in_the_next_at_the_counters_new_value() -> None:
    k = Kernel()
    x = k.id()
    with k.loop(k.group(), step=4) as i:
        k.load("sums", k.op("ISub", i, k.op("IAdd", x, 1)))  # what another wrote in the round before
        k.store("sums", k.op("IAdd", i, x), 1)
    assert count(k) == 1


@pytest.mark.parametrize(("word", "barriers"), [("continue", 4), ("break", 3)])
def test_what_is_pending_where_a_loop_is_left_or_goes_on_is_pending_there(word: str, barriers: int) -> None:
    k = Kernel()
    x = k.id()
    with k.loop(3) as i:
        k.load("sums", k.op("ISub", 3, x))
        k.barrier("local")
        k.store("sums", x, i)
        with k.when(k.op("SLessThan", k.group(), 1)):
            k.nodes.append(Leave(word))
        k.barrier("local")
    k.load("sums", 0)
    assert count(k) == barriers


@pytest.mark.parametrize("size", [(4, 1, 1), (1, 1, 1)])
def test_neighbouring_ifs_of_one_condition_become_one(size: tuple[int, int, int]) -> None:
    k = Kernel(size)
    x = k.id()
    condition = k.op("SLessThan", x, 3)
    for memory in ("sums", "tops"):
        with k.when(condition):
            k.store(memory, x, 1)
    assert k.text().count("if (") == 1


# ------------------------------------------------------------ work that is done several times over


@pytest.mark.parametrize(
    ("axis", "condition"), [(1, "get_local_id(0) == 0"), (2, "(get_local_id(0) == 0 && get_local_id(1) == 0)")]
)
def test_where_all_do_the_same_sum_one_does(axis: int, condition: str) -> None:
    k = Kernel((4, 2, 1))
    k.store("sums", k.id(axis), 0)
    with k.loop(3):
        k.store("sums", k.id(axis), k.op("IAdd", k.load("sums", k.id(axis)), 1))
    assert f"\nif ({condition}) {{\n    while (i1 < 3) {{" in k.text()
    assert k.text().count("while (i1 < 3)") == 1


@pytest.mark.parametrize(
    "what",
    [
        *("nothing", "own value", "own condition", "atomic", "tile", "subgroup"),
        *("a variable lives on", "a value lives on", "a place lives on"),
    ],
)
def test_one_does_it_unless_it_matters_who_or_how_many(what: str) -> None:
    k = Kernel()
    x = k.id()
    last, own = k.variable(0), Place("own", "Function")
    condition = k.op("SLessThan", k.value(0), x if what == "own condition" else 1)
    with k.when(condition), k.loop(3):
        total = k.op("IAdd", k.load("sums", 0), x if what == "own value" else 1)
        k.store("sums", 0, total)
        if what == "atomic":
            k.atomic("sums", 0, 1)
        elif what == "tile":
            tile = Access(Place("tile", "Workgroup"), "read", 32, (16, 64))
            k.nodes.append(Statement("spirv.KHR.CooperativeMatrixStore", accesses=(tile,)))
        elif what == "subgroup":
            shuffled = Value(k.name(), INT)
            k.nodes.append(Statement("spirv.GroupNonUniformShuffle", (total,), defines=shuffled, text="shuffled"))
        k.assign(last, total)
        k.nodes.append(Statement("spirv.Store", (total,), ["own = total"], accesses=(Access(own, "write", 4),)))
    if what == "a place lives on":
        k.nodes.append(Statement("spirv.Load", (), ["kept = own"], accesses=(Access(own, "read", 4),)))
    elif what.endswith("lives on"):
        k.store("out", x, total if what == "a value lives on" else last)
    assert ("if (get_local_id(0) == 0)" in k.text()) == (what == "nothing")
