"""The shortest expression that selects just some targets, as a person would write it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from retarget.model import CompilerConfig, CompileTarget, Module, Origin, RunTarget, RuntimeConfig, Target
from retarget.model.devices import DeviceTraits
from retarget.support.errors import RetargetError
from retarget.targets.selection import Selector
from retarget.targets.tag_expressions import exact_expression, shortest_expression

ORIGIN = Origin(file=Path("matrix.toml"), key_path="")


def compiled(compiler: str, *tags: str, suite: str = "ops", module: tuple[str, ...] = ()) -> CompileTarget:
    return CompileTarget(
        name=f"m_{compiler}",
        suite=suite,
        kind="check",
        folder=Path(),
        module=Module(name="m", path=Path("m.mlir"), tags=module),
        compiler=CompilerConfig(name=compiler, compiler="iree", origin=ORIGIN),
        flags=(),
        timeout=None,
        tags=("compile", suite, compiler, *tags, *module),
        backends=tuple(tag for tag in tags if tag.endswith("-backend")),
    )


def run(of: CompileTarget, runtime: str, driver: str, *tags: str) -> RunTarget:
    config = RuntimeConfig(name=runtime, driver=driver, host_os=("linux",), origin=ORIGIN)
    own = dict.fromkeys(("run", *of.tags[1:], runtime, driver, "linux", *tags))
    return RunTarget(name=f"{of.name}_{runtime}", compile=of, runtime=config, timeout=None, tags=tuple(own))


A, B, C, D, E = (compiled(name, tag) for name, tag in zip("abcde", ("cpu", "cpu", "gpu", "gpu", "tpu"), strict=True))
A1, A2 = run(A, "sync", "local-sync"), run(A, "task", "local-task")
B1, B2 = run(B, "sync", "local-sync"), run(B, "task", "local-task")
C1 = run(C, "c", "vulkan")
C2, D2, E2 = (run(of, "sync", "local-sync") for of in (C, D, E))
SWAPPED = compiled("vulkan", "y")


def more(of: CompileTarget) -> list[RunTarget]:
    """The run targets of a config in another suite."""
    there = compiled(of.compiler.name, "cpu", suite="more")
    return [run(there, "sync", "local-sync"), run(there, "task", "local-task")]


@pytest.mark.parametrize(
    ("wanted", "others", "expression"),
    [
        ([A, B], [], ""),
        ([A], [B, C], "a"),
        ([A, B], [C], "cpu"),
        ([A, B, C], [D], "not d"),
        ([A, C], [B, D], "a or c"),
        ([A, C, D], [B, E], "a or gpu"),
        ([A, B, C], [D, E], "c or cpu"),
        ([A, D, E], [B, C], "not b and not c"),
        ([A1], [A2, B1, B2], "a and sync"),
        ([A1, B1], [A2, B2, C1], "sync"),
        ([A1, A2], [A, B1, B2], "run and a"),
        ([A1, A2, C1], [A, C, B1, B2, B], "run and not b"),
        ([A1, C2, E2], [A, B, C, D, E, B1, D2], "run and not (b or d)"),
        ([A1, B2], [A2, B1], "(a and sync) or (b and task)"),
        ([A], [A1, A2], "compile"),
        ([A2, *more(A)], [A1, B1, B2, *more(B)], "a and (task or more)"),
        ([A, B1], [A1, A2, B, C], "(b and sync) or (compile and a)"),
        ([A], [compiled("a", "cpu", "slow"), B], "a and not slow"),
        ([A1, C2], [A, C, B1, D2], "run and (a or c)"),
        ([SWAPPED], [compiled("y", "vulkan")], "compiler(name='vulkan')"),
        (
            [run(SWAPPED, "x", "d")],
            [SWAPPED, run(compiled("y", "vulkan"), "x", "d")],
            "run and compiler(name='vulkan')",
        ),
        ([compiled(name) for name in "pqrst"], [compiled(name) for name in "bcd"], "not (b or c or d)"),
    ],
)
def test_it_is_short_and_made_of_telling_words(wanted: list[Target], others: list[Target], expression: str) -> None:
    found = shortest_expression(wanted, others)
    assert found == expression
    assert_exact(found, wanted, others)


def on(target: RunTarget, **traits: str) -> RunTarget:
    """The same target on a device."""
    return replace(target, devices=(DeviceTraits(**traits),))


LLVMPIPE, RADV = on(C1, driver="llvmpipe", type="cpu"), on(C1, driver="radv", type="gpu")


@pytest.mark.parametrize(
    ("wanted", "others", "expression"),
    [
        ([LLVMPIPE], [RADV], "on(driver='llvmpipe')"),
        ([RADV, A1], [LLVMPIPE], "a or on(driver='radv')"),
        ([on(A1, driver="x"), on(C1, driver="x")], [on(B1, driver="y")], "not b"),  # without, where that suffices
        ([on(C1, driver="radv", name="a\\b")], [on(C1, driver="radv", name="c")], None),
        ([on(C1, name="a\\b", version="2")], [on(C1, name="a\\b", version="3")], "on(version='2')"),
        ([C1], [LLVMPIPE], None),  # no device is negated
        ([C1, A1], [LLVMPIPE], None),
        (
            [on(A1, driver="x"), on(B2, driver="x")],
            [*(on(one, driver="x") for one in (A2, B1)), *(on(one, driver="y") for one in (A1, B2))],
            "(a and sync and on(driver='x')) or (b and task and on(driver='x'))",
        ),
        ([C1], [LLVMPIPE, A1], None),
        ([on(C1, type="cpu")], [on(C1, type="gpu")], None),
    ],
)
def test_devices_tell_apart_what_nothing_else_does(
    wanted: list[Target], others: list[Target], expression: str | None
) -> None:
    assert shortest_expression(wanted, others) == expression


def test_a_word_of_the_module_is_used_only_where_it_is_one_of_the_target_too() -> None:
    assert shortest_expression([compiled("a", module=("odd",))], [compiled("a")]) is None
    assert shortest_expression([compiled("a", module=("a",))], [B]) == "a"


def test_targets_that_nothing_separates_are_named() -> None:
    assert exact_expression([A], [B]) == "a"
    with pytest.raises(RetargetError, match=r"^no tag expression separates m_a from all of m_b, m_a$"):
        exact_expression([A], [B, A])


@st.composite
def splits(draw: st.DrawFn) -> tuple[list[Target], list[Target]]:
    """Targets of up to five configs with random words, on up to three runtimes, in two suites; some of them wanted."""
    words = ("cpu", "gpu", "sync", "vulkan", "a", "x-backend")
    targets: list[Target] = []
    for suite in ("ops", "more")[: draw(st.integers(1, 2))]:
        for name in ("a", "b", "vulkan", "d", "e")[: draw(st.integers(1, 5))]:
            one = compiled(name, *draw(st.lists(st.sampled_from(words), max_size=2, unique=True)), suite=suite)
            targets.append(one)
            targets += [
                run(one, *pair) for pair in draw(st.sets(st.sampled_from([("sync", "local"), ("vulkan", "gpu")])))
            ]
    chosen = draw(st.lists(st.booleans(), min_size=len(targets), max_size=len(targets)))
    wanted = [target for target, is_wanted in zip(targets, chosen, strict=True) if is_wanted]
    return wanted, [target for target, is_wanted in zip(targets, chosen, strict=True) if not is_wanted]


@settings(max_examples=200, deadline=None)
@given(splits())
@pytest.mark.slow
def test_it_is_exact_whatever_the_configs_are_called(split: tuple[list[Target], list[Target]]) -> None:
    wanted, others = split
    if wanted:
        assert_exact(shortest_expression(wanted, others), wanted, others)


def assert_exact(expression: str | None, wanted: Sequence[Target], others: Iterable[Target]) -> None:
    assert expression is not None
    selects = Selector(expression)
    assert all(map(selects, wanted))
    assert not any(map(selects, others))
