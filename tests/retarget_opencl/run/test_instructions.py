"""Instructions of host programs that need no device, run as programs; of the others, which command they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opencl_support import shipped
from retarget_opencl.artifact.file import Constant, Function, Kernel, OpenClArtifact, Program, Scalar
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError
from retarget_opencl.run.instructions import Machine
from retarget_opencl.run.memory import Span, View
from retarget_opencl.run.program import load_program


class Recorder:
    """Answers each command with its name and arguments; knows those of `Commands` only."""

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, ...]]:
        assert hasattr(Commands, name)
        return lambda *arguments: (name, *arguments)


def machine(
    *blocks: Sequence[tuple[Scalar, ...]],
    parameters: int = 0,
    constants: Sequence[Constant] = (),
    values: Sequence[Scalar] = (),
    more: Sequence[Function] = (),
    kernels: Sequence[Kernel] = (),
    initializers: tuple[int, ...] = (),
) -> Machine:
    """Load a function of 10 registers of which the first are parameters."""
    function = Function(
        name="tested",
        registers=10,
        parameters=tuple(range(parameters)),
        constants=tuple(constants),
        blocks=tuple(map(tuple, blocks)),
    )
    program = Program(
        globals=tuple((f"g{n}", value) for n, value in enumerate(values)),
        functions=(function, *more),
        initializers=initializers,
        exports=(),
        kernels=tuple(kernels),
    )
    artifact = OpenClArtifact(
        profile=shipped("cpu"), needs=(), sources=(), program=program, blobs=(b"\1\2\3\4",), digest="d"
    )
    commands: Any = Recorder()
    return load_program(artifact, commands, (("scope", Path("file")),))


def run(arguments: Sequence[Any], *instructions: tuple[Scalar, ...]) -> Any:
    """Run instructions whose result is in register 9."""
    loaded = machine([*instructions, ("return", (9,))], parameters=len(arguments))
    (result,) = loaded.codes[0].run(arguments)
    return result


@pytest.mark.parametrize(
    ("instruction", "arguments", "expected"),
    [
        (("scalar", "subi", "i32", 9, 0, 1), (5, 3), 2),
        (("scalar", "math_absi", "i32", 9, 0), (-5,), 5),
        (("scalar", "math_fma", "f32", 9, 0, 1, 2), (2.0, 3.0, 4.0), 10.0),
        (("convert", "trunci", "i32", "i8", 9, 0), (300,), 44),
        (("select", 9, 0, 1, 2), (1, 10, 20), 10),
        (("select", 9, 0, 1, 2), (0, 10, 20), 20),
    ],
)
def test_an_instruction_computes_its_result(
    instruction: tuple[Scalar, ...], arguments: tuple[Any, ...], expected: object
) -> None:
    assert run(arguments, instruction) == expected


def test_globals_are_read_and_written_by_number() -> None:
    loaded = machine([("global_load", 5, 1), ("global_store", 0, 0), ("return", (5,))], parameters=1, values=(10, 20))
    assert loaded.codes[0].run((3,)) == (20,)
    assert loaded.globals == [3, 20]


def test_a_call_copies_arguments_and_results_and_initialisers_run_in_order() -> None:
    swap = Function(name="swap", registers=2, parameters=(0, 1), constants=(), blocks=((("return", (1, 0)),),))
    steps = [
        Function(
            name=f"i{value}",
            registers=2,
            parameters=(),
            constants=(Constant(register=1, kind="number", value=value),),
            blocks=((("global_store", 0, 1), ("return", ())),),
        )
        for value in (7, 8)
    ]
    loaded = machine(
        [("call", 1, (5, 6), (0, 1)), ("return", (5, 6))],
        parameters=2,
        values=(None,),
        more=(swap, *steps),
        initializers=(3, 2),
    )
    assert loaded.codes[0].run((1, 2)) == (2, 1)
    loaded.initialize()
    assert loaded.globals == [7]


def test_constants_are_in_their_registers_and_stay_there() -> None:
    constants = (
        Constant(register=1, kind="number", value=7),
        Constant(register=2, kind="float", value="0x1.8p+0"),
        Constant(register=3, kind="text", value="t"),
        Constant(register=4, kind="blob", value=0),
        Constant(register=5, kind="null", value=None),
    )
    loaded = machine([("return", (1, 2, 3, 4, 5)), ()][:1], constants=constants)
    *plain, blob, nothing = loaded.codes[0].run(())
    assert (plain, bytes(blob), nothing) == ([7, 1.5, "t"], b"\1\2\3\4", None)


def test_jumps_copy_block_arguments_as_if_at_once() -> None:
    loaded = machine([("br", 1, (0, 1, 2), (1, 0, 2))], [("return", (0, 1, 2))], parameters=3)
    assert loaded.codes[0].run((1, 2, 3)) == (2, 1, 3)
    loaded = machine([("br", 1, (2,), (0,))], [("return", (2,))], parameters=1)
    assert loaded.codes[0].run((4,)) == (4,)
    loaded = machine([("br", 2, (0,), (0,))], [("fail", "skipped")], [("return", (0,))], parameters=1)
    assert loaded.codes[0].run((4,)) == (4,)
    loaded = machine([("cond_br", 0, 1, (5,), (1,), 1, (5,), (2,))], [("return", (5,))], parameters=3)
    assert [loaded.codes[0].run((flag, 10, 20)) for flag in (0, 1)] == [(20,), (10,)]
    jumps = ((1, (5,), (1,)), (1, (5,), (2,)))
    loaded = machine([("switch_br", 0, (3, 4), jumps, (1, (5,), (0,)))], [("return", (5,))], parameters=3)
    assert [loaded.codes[0].run((flag, 10, 20)) for flag in (3, 4, 5)] == [(10,), (20,), (5,)]


def test_assertions_and_failures_end_a_call_with_their_words() -> None:
    loaded = machine([("assert", 0, "is one"), ("return", ())], parameters=1)
    assert loaded.codes[0].run((1,)) == ()
    with pytest.raises(ProgramError, match=r"^assertion failed: is one$"):
        loaded.codes[0].run((0,))
    for block in ([("fail", "stop")], [("fail", "stop"), ("return", ())]):
        with pytest.raises(ProgramError, match=r"^stop$"):
            machine(block).codes[0].run(())


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ([("frobnicate",), ("return", ())], "unknown instruction 'frobnicate' in tested"),
        ([("flush",)], "tested has a block that ends in 'flush', which is no jump"),
        ([("scalar", "frobnicate", "i32", 9, 0), ("return", ())], "unknown scalar instruction frobnicate"),
    ],
)
def test_what_is_no_instruction_is_refused_when_a_program_is_loaded(
    block: list[tuple[Scalar, ...]], message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        machine(block)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["allocate", "resource_load"])
def test_an_instruction_with_a_result_is_a_command_of_the_device(name: str) -> None:
    assert run((4, 5), (name, 9, 0, (1, 0), "word")) == (name, 4, [5, 4], "word")


@pytest.mark.parametrize("name", ["resource_store", "upload", "fill", "copy", "flush", "check"])
def test_an_instruction_without_a_result_is_a_command_of_the_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []
    monkeypatch.setattr(Recorder, name, lambda self, *words: seen.append(words), raising=False)
    machine([(name, 0, 1), ("return", ())], parameters=2).codes[0].run((4, 5))
    assert seen == [(4, 5)]


MEMORY: Any = "memory"
VIEW = View(Span(MEMORY, 4, 48), (3, 4), 0x21000020)


@pytest.mark.parametrize(
    ("instruction", "arguments", "expected"),
    [
        (("resource_size", 9, 0), (VIEW.span,), 48),
        (("subview", 9, 0, 1, 2), (VIEW.span, 8, 16), Span(MEMORY, 12, 16)),
        (("import", 9, 0, 1), (VIEW, 16), Span(MEMORY, 4, 16)),
        (("view_dim", 9, 0, 1), (VIEW,), 4),
        (("export", 9, 0, 1, "f32", (-1, 4), (2,)), (VIEW.span, 48, 3), VIEW),
        (("export", 9, 0, 1, "f32", (0, -1), (2,)), (VIEW.span, 0, 5), View(Span(MEMORY, 4, 0), (0, 5), 0x21000020)),
    ],
)
def test_views_and_parts_of_memory_need_no_device(
    instruction: tuple[Scalar, ...], arguments: tuple[Any, ...], expected: object
) -> None:
    assert run(arguments, instruction) == expected


def test_what_is_freed_is_forgotten() -> None:
    assert machine([("free", 0), ("return", (0,))], parameters=1).codes[0].run((7,)) == (None,)


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (
            ("dispatch", 1, ((0,),), ((2, 3),), ((5, 6),), ((8, 9),)),
            ("a", ["a"], [(10, 10)], (10,), [(13, 16), (12, 15)], [19]),
        ),
        (
            ("dispatch", 0, ((0,), (1,)), ((2, 3), (4,)), ((5, 6), (7,)), ((8, 9), ())),
            ("both", ["a", "b"], [(10, 10), (11, 11)], (10, 11), [(13, 16), (12, 15), (14, 17)], [19]),
        ),
    ],
)
def test_a_dispatch_hands_on_what_each_member_takes_in_its_order(
    monkeypatch: pytest.MonkeyPatch, instruction: tuple[Scalar, ...], expected: object
) -> None:
    seen: list[Any] = []

    def launcher(
        self: Recorder, kernel: Kernel, members: Sequence[Kernel], count: Callable[..., Any]
    ) -> Callable[..., None]:
        names = [member.name for member in members]
        return lambda workload, *words: seen.append((kernel.name, names, count(workload), workload, *words))

    monkeypatch.setattr(Recorder, "launcher", launcher, raising=False)
    count = Function(name="count", registers=1, parameters=(0,), constants=(), blocks=((("return", (0, 0)),),))
    kernels = (
        Kernel(name="both", bindings=(), constants=(), workgroup_size=(1, 1, 1), groups=0, members=(1, 2)),
        Kernel(name="a", bindings=(1, 0), constants=(1,), workgroup_size=(1, 1, 1), groups=1),
        Kernel(name="b", bindings=(0,), constants=(), workgroup_size=(1, 1, 1), groups=1),
    )
    loaded = machine([instruction, ("return", ())], parameters=10, more=(count,), kernels=kernels)
    loaded.codes[0].run(range(10, 20))
    assert seen == [expected]


def test_a_constant_is_a_range_of_the_artifacts_bytes_under_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = SimpleNamespace(upload=lambda key, data: (key, bytes(data.bytes)))
    monkeypatch.setattr(Recorder, "pool", pool, raising=False)
    loaded = machine([("constant", 9, 0, 0, 1), ("return", (9,))], parameters=2)
    assert loaded.codes[0].run((1, 2)) == ((("d", 0, 1, 2), b"\2\3"),)
    with pytest.raises(IndexError):
        machine([("constant", 9, 1, 0, 0), ("return", (9,))])
