"""What `Addresses` knows of the values and the accesses of a kernel, by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from node_kernels import BOOL, INT, Kernel
from retarget_opencl.clc.addresses import Addresses, Use
from retarget_opencl.clc.nodes import Access, Loop, Place, Statement, Value
from retarget_opencl.clc.types import Pointer, Scalar


def op(k: Kernel, name: str, *operands: Value | int, kind: Scalar = INT) -> Value:
    made = Value(k.name(), kind)
    k.nodes.append(Statement(f"spirv.{name}", tuple(map(k.value, operands)), defines=made))
    return made


def shape(k: Kernel, value: Value) -> tuple[tuple[int, ...], list[int]]:
    """Return what a value is for each work-item, and the factors of what is not known."""
    form = Addresses.of(k.nodes, k.size).form(value)
    return form.items, [factor for _, factor in form.terms]


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        *(("IAdd", (3, -5), -2), ("ISub", (3, -5), 8), ("SNegate", (3,), -3), ("IMul", (3, -2), -6)),
        *(("UDiv", (-1, 2), 0x7FFFFFFF), ("UDiv", (7, 1), 7), ("UDiv", (7, 0), 0), ("UMod", (-1, 10), 5)),
        *(("UMod", (7, 0), 0), ("SDiv", (-7, 2), -3), ("SDiv", (7, -2), -3), ("SDiv", (-7, -2), 3)),
        *(("SDiv", (7, 7), 1), ("SDiv", (0, -7), 0)),
        *(("SDiv", (7, 0), 0), ("SDiv", (0xFFFFFFF8, 2), -4)),
        *(("SDiv", (1 << 31, 1), -(1 << 31)),),
        *(("ShiftLeftLogical", (3, 4), 48), ("ShiftLeftLogical", (3, 33), 6), ("ShiftRightLogical", (-1, 28), 15)),
        *(("ShiftRightLogical", (12, 33), 6), ("ShiftRightArithmetic", (-16, 2), -4)),
        *(("ShiftRightArithmetic", (0xFFFFFFF0, 34), -4), ("BitwiseAnd", (12, 10), 8), ("BitwiseOr", (12, 10), 14)),
        *(("BitwiseXor", (12, 10), 6), ("LogicalAnd", (1, 0), 0), ("LogicalAnd", (1, 1), 1)),
        *(("LogicalOr", (1, 0), 1), ("LogicalOr", (0, 0), 0), ("LogicalNot", (1,), 0), ("LogicalNot", (0,), 1)),
        *(("Select", (1, 7, 9), 7), ("Select", (0, 7, 9), 9), ("IEqual", (2, 2), 1), ("IEqual", (2, 3), 0)),
        *(("INotEqual", (2, 2), 0), ("INotEqual", (2, 3), 1), ("SLessThan", (-1, 1), 1), ("SLessThan", (1, 1), 0)),
        *(("SLessThanEqual", (1, 1), 1), ("SLessThanEqual", (2, 1), 0), ("SGreaterThan", (1, 1), 0)),
        *(("SGreaterThan", (1, -1), 1), ("SGreaterThanEqual", (1, 1), 1), ("SGreaterThanEqual", (-1, 1), 0)),
        *(("SLessThan", (0xFFFFFFFF, 1), 1), ("SGreaterThanEqual", (1 << 31, 0), 0), ("IEqual", (-1, 0xFFFFFFFF), 1)),
        *(("INotEqual", (-1, 0xFFFFFFFF), 0), ("UDiv", (7, -1), 0), ("UMod", (7, -1), 7)),
        *(("ULessThan", (-1, 1), 0), ("ULessThan", (1, -1), 1), ("ULessThan", (1, 1), 0)),
        *(("ULessThanEqual", (1, 1), 1), ("ULessThanEqual", (-1, 1), 0), ("ULessThanEqual", (1, -1), 1)),
        *(("UGreaterThan", (-1, 1), 1), ("UGreaterThan", (1, 1), 0), ("UGreaterThan", (1, -1), 0)),
        *(("UGreaterThanEqual", (1, 1), 1), ("UGreaterThanEqual", (1, -1), 0), ("UGreaterThanEqual", (-1, 1), 1)),
        *(("GL.SMin", (-1, 1), -1), ("GL.SMax", (-1, 1), 1), ("GL.SMin", (0xFFFFFFFF, 1), -1)),
        *(("GL.SMax", (0xFFFFFFFF, 1), 1), ("GL.UMin", (-1, 0xFFFFFFFE), 0xFFFFFFFE)),
        *(("GL.UMin", (-1, 1), 1), ("GL.UMin", (1, -1), 1), ("GL.UMax", (-1, 1), 0xFFFFFFFF)),
        *(("GL.UMax", (1, -1), 0xFFFFFFFF), ("CopyObject", (5,), 5), ("Bitcast", (5,), 5)),
    ],
)
def test_what_is_computed_from_numbers_is_a_number(name: str, operands: Sequence[int], expected: int) -> None:
    k = Kernel((1, 1, 1))
    kind = BOOL if "Than" in name or "Equal" in name or name.startswith("Logical") else INT
    value = op(k, name, *operands, kind=kind)
    assert Addresses.of(k.nodes, k.size).form(value).number == expected


@pytest.mark.parametrize(
    ("name", "axis", "items", "factors"),
    [
        ("LocalInvocationId", 0, (0, 1, 0, 1, 0, 1), []),
        ("LocalInvocationId", 1, (0, 0, 1, 1, 2, 2), []),
        ("LocalInvocationId", 2, (0,) * 6, []),
        ("GlobalInvocationId", 0, (0, 1, 0, 1, 0, 1), [2]),
        ("GlobalInvocationId", 1, (0, 0, 1, 1, 2, 2), [3]),
        ("WorkgroupSize", 1, (3,) * 6, []),
        ("WorkgroupId", 0, (0,) * 6, [1]),
        ("NumWorkgroups", 0, (0,) * 6, [1]),
    ],
)
def test_a_built_in_is_known_for_each_work_item(
    name: str, axis: int | None, items: tuple[int, ...], factors: list[int]
) -> None:
    k = Kernel((2, 3, 1))
    assert shape(k, Value(name, INT, built_in=name, axis=axis)) == (items, factors)


@pytest.mark.parametrize(
    ("name", "axis", "dimensions"),
    [
        ("LocalInvocationId", None, {0, 1}),
        ("LocalInvocationId", 1, {1}),
        ("LocalInvocationId", 2, set()),
        ("GlobalInvocationId", 0, {0}),
        ("SubgroupId", None, {0, 1}),
        ("SubgroupLocalInvocationId", None, {0, 1}),
        ("WorkgroupId", 0, set()),
        ("WorkgroupSize", 0, set()),
    ],
)
def test_a_built_in_depends_on_dimensions_that_have_several_work_items(
    name: str, axis: int | None, dimensions: set[int]
) -> None:
    k = Kernel((2, 3, 1))
    value = Value(name, INT, built_in=name, axis=axis)
    assert Addresses.of(k.nodes, k.size).dimensions([value]) == dimensions


def test_a_global_id_is_the_number_of_the_group_times_its_size_plus_the_local_id() -> None:
    k = Kernel()
    x, group = k.id(), k.group()
    id_ = Value("id", INT, built_in="GlobalInvocationId", axis=0)
    assert shape(k, k.op("ISub", id_, k.op("IAdd", k.op("IMul", group, 4), x))) == ((0, 0, 0, 0), [])


@pytest.mark.parametrize(
    ("name", "by", "factor"),
    [("IMul", 4, 4), ("IMul", 0, None), ("ShiftLeftLogical", 3, 8), ("ShiftLeftLogical", 33, 2)],
)
def test_a_multiple_of_what_is_not_known_stays_one(name: str, by: int, factor: int | None) -> None:
    k = Kernel()
    x, group = k.id(), k.group()
    expected = [] if factor is None else [factor]
    assert shape(k, k.op("IAdd", op(k, name, group, by), x)) == ((0, 1, 2, 3), expected)
    if name == "IMul":
        assert shape(k, k.op("ISub", x, k.op("IMul", by, group))) == ((0, 1, 2, 3), [-one for one in expected])


def test_what_is_not_known_cancels_out() -> None:
    k = Kernel()
    for one in (k.group(), Value("given", INT), Value("given", Scalar("int", 64))):
        assert shape(k, one) == ((0, 0, 0, 0), [1])
        assert shape(k, k.op("IAdd", op(k, "SNegate", one), one)) == ((0, 0, 0, 0), [])


@pytest.mark.parametrize(("of_item", "uniform"), [(True, False), (False, True)])
def test_an_operation_on_what_is_not_known_is_the_same_for_all_if_its_operands_are(
    *, of_item: bool, uniform: bool
) -> None:
    k = Kernel()
    group = k.group()
    product = k.op("IMul", group, k.id() if of_item else k.op("IAdd", group, 1))
    ((term, factor),) = Addresses.of(k.nodes, k.size).form(product).terms
    assert (term.uniform, factor) == (uniform, 1)


def test_what_is_read_from_memory_that_the_kernel_writes_differs_between_work_items() -> None:
    k = Kernel()
    k.store("sums", 0, 1)
    read, other = k.load("sums", 0), k.load("tops", 0)
    addresses = Addresses.of(k.nodes, k.size)
    assert addresses.written == {"sums"}
    assert [addresses.form(value).terms[0][0].uniform for value in (read, other)] == [False, True]


def test_what_a_work_item_keeps_for_itself_differs_as_what_it_stored_does() -> None:
    k = Kernel()
    place = Place("own", "Function")
    own = Value("own", Pointer(INT, "Function"), place=place)
    x, read = k.id(), Value(k.name(), INT)
    k.nodes.append(Statement("spirv.Store", (own, x), ["own = x"], accesses=(Access(place, "write", 4),)))
    k.nodes.append(Statement("spirv.Load", (own,), defines=read, text="own", accesses=(Access(place, "read", 4),)))
    addresses = Addresses.of(k.nodes, k.size)
    ((term, _),) = addresses.form(read).terms
    assert (term.uniform, addresses.dimensions([read])) == (False, {0})


def test_what_an_atomic_returns_differs_between_work_items_though_memory_is_trusted() -> None:
    k = Kernel()
    place, made = k.place("sums", 0), Value("old", INT)
    access = Access(Place("sums", "Workgroup"), "atomic", 4)
    k.nodes.append(Statement("spirv.AtomicIAdd", (place,), defines=made, text="old", accesses=(access,)))
    assert Addresses.of(k.nodes, k.size).dimensions([made]) == {0}


@pytest.mark.parametrize("name", ["GroupNonUniformShuffle", "KHR.SubgroupBallot", "KHR.CooperativeMatrixLoad"])
def test_what_work_items_make_together_differs_between_them(name: str) -> None:
    k = Kernel()
    made = op(k, name, k.group())
    assert Addresses.of(k.nodes, k.size).dimensions([made]) == {0}


def test_a_variable_depends_on_what_it_takes_and_on_where_it_takes_it() -> None:
    k = Kernel((2, 3, 1))
    taken, chosen, counted, both = (k.variable(0) for _ in range(4))
    k.assign(taken, k.id(0))
    k.assign(taken, 1)
    with k.when(k.op("SLessThan", k.id(0), 1)):
        k.assign(chosen, 1)
        with k.loop(k.id(1)) as i:
            k.assign(both, i)
    with k.otherwise():
        k.assign(counted, 1)
    addresses = Addresses.of(k.nodes, k.size)
    found = [addresses.dimensions([value]) for value in (taken, chosen, counted, both, i)]
    assert found == [{0}, {0}, {0}, {0, 1}, {0, 1}]


# ------------------------------------------------------------ counters of loops


@pytest.mark.parametrize("values", [("step",), (0, "group"), (0, "group", "step")])
def test_a_variable_without_one_first_value_is_not_known(values: Sequence[int | str]) -> None:
    k = Kernel()
    group, variable = k.group(), Value("i", INT)
    known = {"group": group, "step": k.op("IAdd", variable, 2)}
    for value in values:
        k.assign(variable, known.get(value, value))
    assert shape(k, variable) == ((0, 0, 0, 0), [1])


def test_what_is_computed_from_a_variable_changes_where_what_that_takes_does() -> None:
    k = Kernel()
    with k.loop(8) as i:
        pass
    taken = k.variable(i)
    k.assign(taken, k.group())
    made = op(k, "BitCount", taken)
    ((term, _),) = Addresses.of(k.nodes, k.size).form(made).terms
    assert term.loops == {node for node in k.nodes if isinstance(node, Loop)}


@pytest.mark.parametrize(("first", "end", "step"), [(0, 8, 4), (3, 8, 1), (5, -3, -2)])
def test_a_counter_is_its_first_value_plus_steps(first: int, end: int, step: int) -> None:
    k = Kernel()
    with k.loop(end, first=first, step=step) as i:
        pass
    form = Addresses.of(k.nodes, k.size).form(i)
    ((term, factor),) = form.terms
    assert (form.items, factor, term.uniform) == ((first,) * 4, abs(step), True)
    assert term.loops == {node for node in k.nodes if isinstance(node, Loop)}


def test_a_counter_that_grows_by_what_it_is_takes_steps_that_are_not_known() -> None:
    k = Kernel()
    with k.loop(8, first=k.id()) as i:
        k.assign(i, k.op("IAdd", i, k.op("IMul", i, 2)))
    assert shape(k, i) == ((0, 1, 2, 3), [1])


# ------------------------------------------------------------ clashes


def use(
    k: Kernel,
    index: Value | int,
    mode: str,
    *,
    size: int = 4,
    when: Sequence[tuple[Value, bool]] = (),
    loops: frozenset[Loop] = frozenset(),
    tile: tuple[int, int] | None = None,
) -> Use:
    place = k.place("sums", index).place
    assert place is not None
    return Addresses.of(k.nodes, k.size).use(Access(place, mode, size, tile), when, loops)


def clash(k: Kernel, first: Use, second: Use, stale: frozenset[Loop] = frozenset()) -> bool:
    return Addresses.of(k.nodes, k.size).clash(first, stale, second)


@pytest.mark.parametrize(
    ("index", "size", "expected"),
    [(0, 4, False), (4, 4, False), (3, 4, True), (4, 8, False), (0, 8, True), (1, 1, True)],
)
def test_accesses_clash_where_their_bytes_meet(index: int, size: int, *, expected: bool) -> None:
    k = Kernel()
    x = k.id()
    assert clash(k, use(k, x, "write"), use(k, k.op("IAdd", x, index), "read", size=size)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((0,), (0,), False), ((0,), (1,), True), ((0, 1, 2, 3), (0,), True), ((), (0, 1), False), ((0, 1), (), False)],
)
def test_an_access_of_no_known_place_may_meet_any_of_another_work_item(
    first: Sequence[int], second: Sequence[int], *, expected: bool
) -> None:
    k = Kernel()
    anywhere = Access(Place("sums", "Workgroup", None), "write", 4)
    uses = (Use(anywhere, None, tuple(n in items for n in range(4)), frozenset()) for items in (first, second))
    assert clash(k, *uses) == expected


def test_an_access_that_reaches_beyond_its_place_has_no_known_one() -> None:
    k = Kernel()
    k.id()
    addresses = Addresses.of(k.nodes, k.size)
    for place, size in ((Place("sums", "Workgroup", None), 4), (Place("sums", "Workgroup"), None)):
        assert addresses.use(Access(place, "write", size), (), frozenset()).address is None


@pytest.mark.parametrize(
    ("offset", "expected"), [(8, False), (7, True), (16, True), (15 * 16 + 8, False), (256, False)]
)
def test_a_tile_takes_bytes_of_each_of_its_rows(offset: int, *, expected: bool) -> None:
    k = Kernel()
    tile = use(k, 0, "write", size=32, tile=(16, 64))  # 16 rows, 64 bytes apart, of 32 bytes
    assert clash(k, tile, use(k, offset, "read", size=32)) == expected
    assert not clash(k, tile, use(k, 0, "read", size=32, tile=(16, 64)))  # a warp does it together


@pytest.mark.parametrize(("offset", "expected"), [(8, True), (16, True), (18, False)])
def test_rows_of_a_tile_need_not_begin_at_multiples_of_their_size(offset: int, *, expected: bool) -> None:
    k = Kernel()
    k.id()
    tile = use(k, 0, "write", size=32, tile=(2, 40))  # bytes 0 to 31, and 40 to 71
    assert clash(k, tile, use(k, offset, "read", size=32)) == expected


def test_two_warps_do_not_take_a_tile_together() -> None:
    k = Kernel((33, 1, 1))
    first, second = (use(k, 0, mode, size=32, tile=(16, 64)) for mode in ("write", "read"))
    assert clash(k, first, second)
