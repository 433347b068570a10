"""A module that IREE compiled to `executable-targets`, as OpenCL C and a host program."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain, count

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from retarget_opencl.artifact.file import Constant, Export, Function, Kernel, KernelSource, Program, Scalar
from retarget_opencl.clc.attention import Attention, attention_kernel
from retarget_opencl.clc.kernel import KernelWriter
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.source import can_share, joint_kernel, kernel_source
from retarget_opencl.clc.statements import identifier
from retarget_opencl.clc.types import TypeNames, TypeSyntaxError
from retarget_opencl.compile.target import device_needs
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.hostprog.rules import HOST_RULES
from retarget_opencl.hostprog.writer import FunctionWriter, Symbols, number_of
from retarget_opencl.translation import ATTENTION, BFLOAT16, Buffer, Ir, TranslationError, inside, symbol_name

_PLACES = 6


class Translation(Struct, frozen=True, kw_only=True):
    """`sources` are the kernels, `blobs` the program's constants, `needs` what the kernels need of a device."""

    sources: tuple[KernelSource, ...]
    program: Program
    blobs: tuple[Buffer, ...]
    needs: tuple[str, ...]


class _KernelSet(Struct):
    """The kernels of all executables. Each is written by itself, so that what one needs changes no other.

    `entries` are the numbers of the kernels by their names in the module.
    """

    profile: DeviceProfile
    functions: list[Function]
    sources: list[KernelSource] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)
    texts: list[KernelText] = field(default_factory=list)
    _together: dict[tuple[int, ...], int] = field(default_factory=dict)

    def add_executable(self, executable: Ir) -> None:
        for variant in inside(executable, "hal.executable.variant"):
            modules = [
                module for inner in inside(variant, "builtin.module") for module in inside(inner, "spirv.module")
            ]
            entry_points = {
                symbol_name(function): (module, function)
                for module in modules
                for function in inside(module, "spirv.func")
            }
            for export in inside(variant, "hal.executable.export"):
                name = symbol_name(export)
                key = "::".join((symbol_name(executable), symbol_name(variant), name))
                if name not in entry_points:
                    msg = f"the executable export {key} has no spirv.func; found {', '.join(entry_points) or 'none'}"
                    raise TranslationError(msg)
                module, function = entry_points[name]
                self._add(key, export, module, function)

    def _add(self, key: str, export: Ir, module: Ir, function: Ir) -> None:
        if "workgroup_size" not in export.attributes:
            msg = f"the executable export {key} names no workgroup size"
            raise TranslationError(msg)
        x, y, z = (int(str(size).partition(" ")[0]) for size in export.attributes["workgroup_size"])
        unique = self._unique(identifier(symbol_name(function)))
        if ATTENTION in export.attributes:
            attention = msgspec.json.decode(str(export.attributes[ATTENTION].value), type=Attention)
            text, groups = attention_kernel(unique, attention, key), _constant_groups(key, attention.groups)
        else:
            names = TypeNames(native_half=self.profile.half == "native", bfloat16=BFLOAT16 in export.attributes)
            writer = KernelWriter(names=names, subgroups=self.profile.subgroups != "none")
            try:
                text = replace(writer.write(module, function, _read_only(export), (x, y, z), key), name=unique)
            except TypeSyntaxError as error:
                msg = f"{error}; in the kernel {key} at {function.location}"
                raise TranslationError(msg) from error
            groups = _write_groups(key, export)
        self.entries[key] = len(self.kernels)
        self.sources.append(kernel_source(text, self.profile))
        self.texts.append(text)
        self.functions.append(groups)
        kernel = Kernel(
            name=text.name,
            bindings=text.bindings,
            constants=text.constants,
            workgroup_size=text.workgroup_size,
            groups=len(self.functions) - 1,
            location=_places(function),
        )
        self.kernels.append(kernel)

    def _unique(self, name: str) -> str:
        """Return `name`, with a number where another executable has a kernel of this name."""
        taken = {kernel.name for kernel in self.kernels}
        return next(one for one in chain((name,), (f"{name}_{number}" for number in count(1))) if one not in taken)

    def together(self, members: Sequence[int]) -> int | None:
        """Return the kernel that does the work of several in one launch; None where they have to be launched by
        themselves.

        Only for NVIDIA's architectures, on which it was measured.
        """
        key = tuple(members)
        texts = [self.texts[number] for number in members]
        if key in self._together:
            return self._together[key]
        if not self.profile.arch.startswith("sm_") or not can_share(texts):
            return None
        text = joint_kernel(self._unique(f"together_{len(self._together)}"), texts)
        self.sources.append(kernel_source(text, self.profile))
        locations = dict.fromkeys(self.kernels[number].location for number in members)
        kernel = Kernel(
            name=text.name,
            bindings=(),
            constants=(),
            workgroup_size=text.workgroup_size,
            groups=self.kernels[members[0]].groups,
            location=", ".join(location for location in locations if location),
            members=key,
        )
        self._together[key] = len(self.kernels)
        self.kernels.append(kernel)
        return self._together[key]


def _read_only(export: Ir) -> dict[int, bool]:
    """Return for each binding of the pipeline layout whether kernels only read it."""
    layout = str(export.attributes["layout"])
    flags = re.findall(r"#hal\.pipeline\.binding<([^>]*)>", layout)
    return {ordinal: "ReadOnly" in text for ordinal, text in enumerate(flags)}


def _places(function: Ir) -> str:
    """Return where a kernel's ops stand in the module: `softmax.mlir:8:10`, at most some."""
    own = re.sub(r' at "[^"]+":\d+:\d+', "", str(function.location))  # not where it is called
    found = dict.fromkeys(re.findall(r'"([^"]+)":(\d+):(\d+)', own))
    shown = [":".join(place) for place in found][:_PLACES]
    return ", ".join(shown) + (", …" if len(found) > len(shown) else "")


def _write_groups(key: str, export: Ir) -> Function:
    """Write the function that counts work-groups. Its parameters are the workload."""
    region = export.regions[0] if len(export.regions) else None
    if region is None or not len(region.blocks):
        msg = f"the executable export {key} has no region that counts its workgroups"
        raise TranslationError(msg)
    writer = FunctionWriter(f"{key} workgroups", Symbols({}, {}, {}), HOST_RULES)
    # The first argument is the device, which is no value here.
    return _without(writer.write(region), {0})


def _constant_groups(key: str, counts: Sequence[int]) -> Function:
    """Return the function that counts work-groups which depend on no workload."""
    constants = (Constant(register=axis, kind="number", value=count) for axis, count in enumerate(counts))
    block = (("return", (0, 1, 2)),)
    name = f"{key} workgroups"
    return Function(name=name, registers=3, parameters=(), constants=tuple(constants), blocks=(block,))


def _without(function: Function, indices: Collection[int]) -> Function:
    """Return a function without some of its parameters, which are empty in it."""
    dropped = [function.parameters[index] for index in sorted(indices)]
    empty = (Constant(register=register, kind="null", value=None) for register in dropped)
    kept = tuple(register for register in function.parameters if register not in dropped)
    return replace(function, parameters=kept, constants=(*function.constants, *empty))


def _initial_value(op: Ir) -> Scalar:
    kind = str(op.attributes["type"].value)
    if "initial_value" not in op.attributes:
        return 0 if re.fullmatch(r"index|i\d+|f\d+|bf16", kind) else None
    return number_of(op.attributes["initial_value"], kind)


def _declaration(op: Ir) -> str:
    if "iree.reflection" not in op.attributes:
        return ""
    reflection = op.attributes["iree.reflection"]
    return str(reflection["iree.abi.declaration"].value) if "iree.abi.declaration" in reflection else ""


def translate(module: Ir, profile: DeviceProfile, resources: Callable[[], Mapping[str, Buffer]]) -> Translation:
    """Translate a module, whose resources `resources` returns by name.

    Raises `TranslationError` for an op, type or constant without a rule.
    """
    top = [item.operation for item in module.regions[0].blocks[0]]
    functions: list[Function] = []
    kernels = _KernelSet(profile, functions)
    for op in top:
        if op.name == "hal.executable":
            kernels.add_executable(op)
    bodies = [op for op in top if op.name in {"util.func", "util.initializer"} and len(op.regions[0].blocks)]
    first = len(functions)
    symbols = Symbols(
        functions={symbol_name(op): first + index for index, op in enumerate(bodies) if op.name == "util.func"},
        globals={},
        kernels=kernels.entries,
        resources=cache(resources),
        together=kernels.together,
    )
    initial: list[tuple[str, Scalar]] = []
    for op in top:
        if op.name == "util.global":
            symbols.globals[symbol_name(op)] = len(initial)
            initial.append((symbol_name(op), _initial_value(op)))
    exports: list[Export] = []
    initializers: list[int] = []
    for index, op in enumerate(bodies):
        is_function = op.name == "util.func"
        name = symbol_name(op) if is_function else f"initializer {len(initializers)}"
        functions.append(FunctionWriter(name, symbols, HOST_RULES).write(op.regions[0]))
        if not is_function:
            initializers.append(first + index)
        elif "sym_visibility" not in op.attributes or str(op.attributes["sym_visibility"].value) == "public":
            kind = op.attributes["function_type"].value
            inputs = [str(item) for item in kind.inputs]
            fences = {number for number, item in enumerate(inputs) if item == "!hal.fence"}
            if fences and name.endswith("$async") and name.removesuffix("$async") in symbols.functions:
                # The asynchronous variant of a function that is exported as well.
                continue
            # The queue is in order, and reading a result waits: nothing is left to wait for or to signal.
            functions[-1] = _without(functions[-1], fences)
            exports.append(
                Export(
                    name=name,
                    function=first + index,
                    arguments=tuple(item for number, item in enumerate(inputs) if number not in fences),
                    results=tuple(str(item) for item in kind.results),
                    declaration=_declaration(op),
                )
            )
    program = Program(
        globals=tuple(initial),
        functions=tuple(functions),
        initializers=tuple(initializers),
        exports=tuple(exports),
        kernels=tuple(kernels.kernels),
    )
    features = frozenset[str]().union(*(text.features for text in kernels.texts))
    local_memory = max((text.local_memory for text in kernels.texts), default=0)
    return Translation(
        sources=tuple(kernels.sources),
        program=program,
        blobs=tuple(symbols.blobs),
        needs=device_needs(features, profile, kernels.kernels, local_memory),
    )
