"""IREE's compiler in this process, up to the phase `executable-targets`.

The compiled module is read through `iree.compiler.ir`: in place, or from bytecode that was kept of it.

Kernels that IREE does not compile as they were prepared are left as they were, each by itself. IREE (3.13) may not
compile them as they were either: with a product of halves that is masked, as in causal attention, it fails where it
uses matrix units. Such a kernel is compiled without them.
"""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from types import ModuleType
from typing import Any

from msgspec import Struct, field
from retarget.extension import CompileRequest, CompilerError
from retarget_iree.compiler.library import FRONT_PHASE, CapturedStderr, set_phases
from retarget_iree.modules.onnx_import import import_onnx
from retarget_iree.noise import clean_diagnostics, first_error, is_verdict
from retarget_iree.toolchain import compiler_api

from retarget_opencl.compile.attention import prepare_attention, replace_kernels
from retarget_opencl.compile.constants import LARGE, move_to_resources, parsed
from retarget_opencl.compile.contractions import generalize_products, pad_products, prepare_products, products_in
from retarget_opencl.compile.kernels import nvidia_kernels, prepare_convolutions, prepare_elementwise, prepare_rows
from retarget_opencl.compile.rewriting import (
    inline_calls,
    keep_signs,
    lost_signs,
    may_help,
    misplaced,
    plain_tiling,
    rewrite,
    slices,
    split_packs,
    take_elements,
    without_subgroups,
)
from retarget_opencl.translation import Ir, inside

_WITH_GLOBALS = "flow"  # constants are globals of their own, which the next phase packs
_EARLY, _KERNELS, _CONFIGURED, _PHASE = (
    "preprocessing",
    "executable-sources",
    "executable-configurations",
    "executable-targets",
)
_CHANGED_AFTER = (FRONT_PHASE, _EARLY, _WITH_GLOBALS, _KERNELS, _CONFIGURED)
"""The phases after which modules are changed, in IREE's order: before kernels are formed, once their ops are theirs
alone, once they have tiles and work-groups."""
_RESOURCES = "stream.resources"
_OTHER_RESOURCES = (
    "min_buffer_offset_alignment = 64, max_buffer_range = 4294967295, min_buffer_range_alignment = 64, "
    "index_bits = 32, alias_mutable_bindings = false, memory_model = Discrete"
)
_HOST = "builtin.module(lower-affine,util.func(convert-scf-to-cf),util.initializer(convert-scf-to-cf))"
"""MLIR's passes for what rules of the host program need not know."""
_BYTECODE_MAGIC = b"ML\xefR"
_Change = tuple[str, Callable[[Ir], None]]
"""A phase, and what changes the module after it."""


class _Found(Struct):
    """What the changes of a compile came upon: what may be the cause where it fails.

    `tiles`, in any of its tries. `attention`, in the last: the locations of attention that is its own kernel, but
    not one that is written as such. `apart`: the locations of attention that is not to be one.
    """

    tiles: bool = False
    attention: set[str] = field(default_factory=set)
    apart: set[str] = field(default_factory=set)


class _Outcome(Struct):
    """The module, None if the compiler failed, its diagnostics, and an error of the library's."""

    module: Ir | None
    diagnostics: str
    error: str
    changes: Sequence[_Change]


@cache
def _settle_dialects() -> None:
    """Give dialects without Python bindings an empty module.

    For each op that it returns, `iree.compiler.ir` tries to import the op's dialect, and does not remember failures:
    that would take most of the time of reading a module.
    """
    for dialect in ("spirv", "check"):
        name = f"iree.compiler.dialects.{dialect}"
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = ModuleType(name)


@contextmanager
def compiled_module(request: CompileRequest, largest: int, kept: list[bytes] | None = None) -> Iterator[tuple[Ir, str]]:
    """Compile the source of a request, or the front half that it has, and yield the module as an operation of
    `iree.compiler.ir`, with the compiler's diagnostics. The front half is added to `kept`, where that is given.

    IREE packs constants into allocations of at most `largest` bytes; what is larger has one of its own.

    The operation is valid inside the `with` block only. Raises `CompilerError`, whose summary is the compiler's first
    error, and `UnavailableError` if there is no compiler.
    """
    api = compiler_api()
    _settle_dialects()
    from iree.compiler import passmanager

    source_name, flags, half = request.source_name, request.resolved.flags, request.front_half
    content = request.source if half is None else half
    if half is None and PurePath(source_name).suffix == ".onnx":
        content = import_onnx(content, source_name)
    # Text must end in a null byte, or the library copies and checks it anew; bytecode must not.
    buffer = content if content[:4] == _BYTECODE_MAGIC else content + b"\0"
    source_of = partial(api.Source.wrap_buffer, buffer=buffer, buffer_name=source_name)
    start = "" if half is None else FRONT_PHASE
    target = flags[-1] if flags else ""
    found = _Found()
    changes, tiles = _changes(content, largest, target, found, kept), _tiles(target, found)
    with ExitStack() as stack:

        def attempt(changes: Sequence[_Change]) -> _Outcome:
            return _compile(stack, source_of, flags, start, changes)

        made = attempt([*changes, *tiles])
        for units in (True, False):  # all of it at last: kernels that are alike have the location of one
            if made.module is None and found.attention:
                found.apart |= found.attention
                changes = _changes(content, largest, target if units else "", found)
                made = attempt([*changes, *tiles])
        if made.module is None and "failed to tile to invocations" in made.diagnostics:  # as for packs
            changes.insert(0, (_EARLY, split_packs))
            made = attempt([*changes, *tiles])
        tried = [_tried(one, flags) for one in tiles]
        for fewer in ([*changes, *tried], changes):
            if made.module is None and found.tiles:
                made = attempt(fewer)
        if made.module is None and may_help(made.diagnostics):
            scalars, failed = "'vector.bitcast'" in made.diagnostics, made  # IREE fails for vectors of bf16
            rewritten: list[_Change] = [
                *changes,
                (_KERNELS, partial(rewrite, scalars=scalars)),
                *([] if scalars else tried),
            ]
            for plain in (plain_tiling, without_subgroups) if scalars else (str,):
                if made.module is None:
                    flags = tuple(plain(flag) for flag in flags)
                    made = attempt(rewritten)
            made = failed if made.module is None else made
        if made.module is not None and (executables := lost_signs(made.module)):
            made = attempt([*made.changes, (_CONFIGURED, partial(keep_signs, executables=executables))])
        module, diagnostics = made.module, made.diagnostics
        if module is None:
            summary = first_error(diagnostics) or made.error
            summary = summary or f"{source_name}: the compiler failed and did not say why"
            raise CompilerError(summary, diagnostics=diagnostics, verdict=is_verdict(diagnostics))
        with module.context:
            if _RESOURCES in module.attributes:
                del module.attributes[_RESOURCES]  # nothing needs it now, and IREE does not read what it writes of it
            passmanager.PassManager.parse(_HOST).run(module)
            yield module, diagnostics
        del module, made


def _changes(
    content: bytes, largest: int, target: str, found: _Found, kept: list[bytes] | None = None
) -> list[_Change]:
    """Return the changes that a module needs, tiles aside. They note in `found` what they find, and add the front half
    to `kept`."""
    changes: list[_Change] = []
    if kept is not None:
        changes.append((FRONT_PHASE, lambda module: kept.append(bytecode_of(module))))
    if b"call" in content:  # as text or bytecode
        changes.append((_EARLY, inline_calls))
    if b"ttention" in content:  # IREE's, torch's or ONNX's
        units = "NV_WMMA" in target and "shuffle" in target

        def prepare(module: Ir) -> None:
            found.attention = prepare_attention(module, units=units, apart=found.apart)

        def write(module: Ir) -> None:
            found.attention = replace_kernels(module)

        changes += [(_EARLY, prepare), (_KERNELS, write)]
    if len(content) >= LARGE:
        changes.append((_WITH_GLOBALS, partial(_prepare_constants, largest=largest)))
    return changes


def _tried(change: _Change, flags: Sequence[str]) -> _Change:
    """Return a change of kernels that leaves those as they are that would not compile with it."""
    phase, prepare = change
    if phase == _EARLY:  # there are no kernels yet
        return change
    return phase, partial(keep_what_compiles, change=prepare, phase=phase, flags=flags)


def _tiles(target: str, found: _Found) -> list[_Change]:
    """Return what configures kernels for a target. Each change notes in `found` whether there are any."""

    def noted(prepare: Callable[[Ir], bool]) -> Callable[[Ir], None]:
        def change(module: Ir) -> None:
            found.tiles |= prepare(module)

        return change

    tiles = [(_KERNELS, noted(_prepare_kernels))]
    if 'arch = "sm_' in target:
        units = "NV_WMMA" in target
        tiles.append((_EARLY, noted(partial(pad_products, units=units))))
        tiles.append((_EARLY, noted(partial(generalize_products, units=units))))
        tiles.append((_CONFIGURED, noted(lambda module: _each(module, prepare_rows))))
    return tiles


def _compile(
    stack: ExitStack, source_of: Callable[[Any], Any], flags: Sequence[str], start: str, changes: Sequence[_Change]
) -> _Outcome:
    """Compile, and change the module between phases; `stack` keeps what it needs."""
    session = stack.enter_context(compiler_api().Session())
    ordered = sorted(changes, key=lambda change: _CHANGED_AFTER.index(change[0]))
    module, error = None, ""

    def advance(module: Ir | None, start: str, end: str) -> Ir | None:
        invocation = stack.enter_context(session.invocation())
        invocation.enable_console_diagnostics()
        set_phases(invocation, start, end)
        if module is not None:
            invocation.import_module(module)
        elif not invocation.parse_source(source_of(session)):
            return None
        return invocation.export_module() if invocation.execute() else None

    with CapturedStderr() as captured:
        try:
            session.set_flags(*flags)
            # The context must be Python's before an invocation uses it.
            context = session.context
            for end, due in groupby(ordered, itemgetter(0)):
                module = advance(module, start, end)
                if module is None:
                    break
                with context:
                    for _, change in due:
                        change(module)
                start = end
            else:
                module = module if start == _CONFIGURED else advance(module, start, _CONFIGURED)
                module = module and _with_places(partial(advance, start=_CONFIGURED, end=_PHASE), module, context)
        except ValueError as caught:
            error = str(caught)
    return _Outcome(module, clean_diagnostics(captured.text), error, changes)


def _with_places(finish: Callable[[Ir], Ir | None], configured: Ir, context: Ir) -> Ir | None:
    """Finish a module whose kernels are configured: once more, if IREE then accesses slices at wrong places."""
    noted = slices(configured)
    copy = configured.clone(ip=False) if noted else None
    module = finish(configured)
    kernels = misplaced(module, noted) if module is not None and noted else ()
    if not kernels:
        return module
    with context:
        take_elements(copy, kernels)
    return finish(copy)


def _prepare_kernels(module: Ir) -> bool:
    """Give tiles to kernels; say whether there are any."""
    return any([_each(module, prepare_convolutions, prepare_elementwise), prepare_products(module)])


def _each(module: Ir, *prepare: Callable[[Ir], bool]) -> bool:
    """Prepare each of NVIDIA's kernels; say whether that changed any. Needs MLIR's context."""
    prepared = [one(function) for _, _, function in nvidia_kernels(module) for one in prepare]
    return any(prepared)


def _prepare_constants(module: Ir, largest: int) -> None:
    """Make large constants resources, and bound what IREE packs together.

    IREE's library (3.13) takes no flags for that, so that the attribute has all that they would say.
    """
    move_to_resources(module)
    from iree.compiler import ir

    config = f"#stream.resource_config<{{max_allocation_size = {largest}, {_OTHER_RESOURCES}}}>"
    module.attributes[_RESOURCES] = ir.Attribute.parse(config)


def bytecode_of(module: Ir) -> bytes:
    """Return a module as MLIR's bytecode, with its locations."""
    content = io.BytesIO()
    module.write_bytecode(content)
    return content.getvalue()


@contextmanager
def module_of(bytecode: bytes) -> Iterator[Ir]:
    """Yield the module that `bytecode_of` wrote, valid inside the `with` block only. Raises `CompilerError`."""
    api = compiler_api()
    _settle_dialects()
    with api.Session() as session, session.context as context:
        with CapturedStderr() as captured:
            module = parsed(bytecode, context)
        if module is None:
            msg = f"what the front end gave cannot be read: {first_error(clean_diagnostics(captured.text))}"
            raise CompilerError(msg)
        yield module.operation
        del module


_UNITS = re.compile(r"mma = \[<[^\]]*\]")


def keep_what_compiles(module: Ir, change: Callable[[Ir], object], *, phase: str, flags: Sequence[str]) -> None:
    """Let `change` prepare the kernels of a module after `phase`, and undo it in executables that then do not compile
    with `flags`; those that do not compile without it either get no matrix units. Needs MLIR's context.
    """
    from iree.compiler import ir

    copies = [op.clone(ip=False) for op in inside(module, "hal.executable")]
    change(module)
    for prepared, copy in zip(inside(module, "hal.executable"), copies, strict=True):
        text, before = (one.get_asm(use_local_scope=True) for one in (prepared, copy))
        is_changed, may_use_units = text != before, _UNITS.search(before) is not None and any(products_in(copy))
        if not (is_changed or may_use_units) or _compiles(text, phase, flags):
            continue
        ir.InsertionPoint(prepared).insert(copy)
        prepared.erase()
        if may_use_units and not (is_changed and _compiles(before, phase, flags)):
            _drop_units(copy)


def _drop_units(executable: Ir) -> None:
    from iree.compiler import ir

    for variant in inside(executable, "hal.executable.variant"):
        target = _UNITS.sub("mma = []", str(variant.attributes["target"]))
        variant.attributes["target"] = ir.Attribute.parse(target)


def _compiles(executable: str, phase: str, flags: Sequence[str]) -> bool:
    """Say whether IREE compiles an executable, given as text, after `phase`."""
    api = compiler_api()
    with CapturedStderr(), api.Session() as session:
        session.set_flags(*flags)
        with session.invocation() as invocation:
            set_phases(invocation, phase, _PHASE)
            source = api.Source.wrap_buffer(session, f"module {{\n{executable}\n}}\n\0".encode())
            return bool(invocation.parse_source(source) and invocation.execute())
