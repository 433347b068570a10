"""What may be written in `matrix.toml`, `suite.toml` and `expectations.toml`, as pydantic models.

The models describe the text. The JSON Schema for editors and the reference in docs/declarations.md are generated from
their descriptions. What the text means (names, inheritance, products, files) is the business of
`retarget.declare.load`.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

__all__ = [
    "OUTCOMES",
    "STAGES",
    "AxisValue",
    "CompilerConfigTable",
    "ConfigTable",
    "DeclarationFile",
    "ExpectationTable",
    "HeirTable",
    "ModuleTable",
    "ModuleTestSuiteTable",
    "RuntimeConfigTable",
    "TargetConfigTable",
]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


AxisValue = str | int

STAGES = ("compile", "load", "run", "compare", "crash", "timeout")
"""What an expectation can say of where a target fails."""

OUTCOMES = ("xfail", "skip", "flaky", "intermittent")
"""What an expectation can make of a failure."""


def _one_or_more(word: dict[str, Any], **constraints: object) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [word, {"type": "array", "items": word, "minItems": 1, **constraints}]})


OneOrMore = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1), _one_or_more({"type": "string"})]
Stages = Annotated[
    list[str],
    BeforeValidator(_listed),
    Field(min_length=1),
    _one_or_more({"type": "string", "enum": list(STAGES)}, uniqueItems=True),
]

Exclusion = Annotated[
    dict[str, Any] | list[Any],
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
                {"type": "array", "items": {"type": ["string", "integer"]}},
            ]
        }
    ),
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def values_for(self, frozen: type) -> dict[str, Any]:
        """Return the values of the keys that a dataclass has fields for too, with tuples for arrays and tables."""
        names = (field.name for field in fields(frozen) if field.name in type(self).model_fields)
        return {name: _frozen(getattr(self, name)) for name in names}


def _frozen(value: Any) -> Any:
    return tuple(value.items() if isinstance(value, dict) else value) if isinstance(value, list | dict) else value


class ConfigTable(_Table):
    """What compiler, runtime and target configs have in common."""

    name: str = Field(
        description=(
            "Unique among the configs of its sort that a file can see. A letter or digit, then letters, digits and any"
            " of `.` `_` `+` `-`; no `_` in the names of compiler and runtime configs, because `_` separates the parts"
            " of a target's name. With `axes` it must use every axis."
        ),
        examples=["llvm-cpu"],
    )
    tags: list[str] = Field(
        default=[],
        description="Further words that select the config's targets with `-m`.",
        examples=[["cpu", "nightly"]],
    )
    axes: dict[str, list[AxisValue]] = Field(
        default={},
        description=(
            "A product declaration: one config for each combination of the values, the last axis turning fastest."
            " All strings of the config may hold `{axis}`; `{{axis}}` is the text `{axis}`. Other places refer"
            " to the resulting names. At most 10,000 combinations, those of `exclude` included."
        ),
        examples=[{"opt": ["O0", "O3"], "threads": [1, 2]}],
    )
    exclude: list[Exclusion] = Field(
        default=[],
        description=(
            "Combinations of `axes` to leave out: a table of axes and values (axes that it does not name may have any"
            " value) or a list of all values in the order of the axes. One that matches nothing is an error."
        ),
        examples=[[{"opt": "O0", "threads": 2}], [["O0", 2]]],
    )


class HeirTable(ConfigTable):
    """What compiler and runtime configs have in common."""

    extends: str | None = Field(
        default=None,
        description=(
            "Another config of the same sort. Its flags come first, its environment is merged (this one wins), and what"
            " is not written here is taken from it."
        ),
    )


class CompilerConfigTable(HeirTable):
    """A named way to compile."""

    compiler: str | None = Field(
        default=None,
        description="The compiler, by the name its extension gives it. Required unless `extends` provides it.",
        examples=["iree"],
    )
    flags: list[str] = Field(
        default=[],
        description="Flags for the compiler, handed on as they are. Relative paths are the compiler's affair.",
        examples=[["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]],
    )
    env: dict[str, str] = Field(
        default={},
        description="Environment variables of the compiler's process.",
        examples=[{"MALLOC_ARENA_MAX": "1"}],
    )
    devices: dict[str, str] = Field(
        default={},
        description=(
            "Named compile devices, in order. The IREE compiler takes each as `--iree-hal-target-device=name=value`."
        ),
        examples=[{"device_a": "vulkan", "device_b": "local"}],
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that one compile may take. A suite's own `timeout` wins over it.",
        examples=[120],
    )


class RuntimeConfigTable(HeirTable):
    """A named way to run."""

    driver: str | None = Field(
        default=None,
        description="The HAL driver, by the name its extension gives it. Required unless `extends` provides it.",
        examples=["local-task"],
    )
    device: str | None = Field(
        default=None,
        description="The device to run on: a URI, an ordinal or a name. Without it, the driver's default device.",
        examples=["vulkan://0"],
    )
    devices: list[str] = Field(
        default=[],
        description="Several devices, in order; instead of `device`.",
        examples=[["vulkan://0", "local-task://"]],
    )
    flags: list[str] = Field(
        default=[],
        description="Flags for the runtime.",
        examples=[["--task_topology_group_count=2"]],
    )
    env: dict[str, str] = Field(
        default={},
        description="Environment variables of the device worker.",
        examples=[{"VK_LOADER_LAYERS_ENABLE": "*validation"}],
    )
    host_os: OneOrMore = Field(
        default=[],
        description=(
            "Operating systems of hosts that can run this, one or a list: `android`, `ios`, `linux`, `macos`"
            " (`darwin` means the same), `windows`. Elsewhere the run targets are skipped. Without it, any."
        ),
        examples=["linux", ["linux", "android"]],
    )
    host_arch: OneOrMore = Field(
        default=[],
        description=(
            "Architectures of hosts that can run this, one or a list: `arm`, `arm64`, `loongarch64`, `ppc64le`,"
            " `riscv32`, `riscv64`, `s390x`, `wasm32`, `wasm64`, `x86`, `x86_64`. Without it, any."
        ),
        examples=["x86_64"],
    )
    run_under: list[str] = Field(
        default=[],
        description="A command and its first arguments to run modules under, out of process: an emulator, a wrapper.",
        examples=[["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]],
    )
    deps: list[str] = Field(
        default=[],
        description="What a build of this runtime needs. Carried to listings; never influences a run.",
        examples=[["//runtime/src/iree/hal/drivers/vulkan"]],
    )
    defines: dict[str, str] = Field(
        default={},
        description="Definitions that a build of this runtime needs. Carried to listings; never influence a run.",
        examples=[{"IREE_HAL_DRIVER_VULKAN": "ON"}],
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that one run target may take, without waiting. A suite's own `timeout` wins over it.",
        examples=[60],
    )
    concurrency: int | None = Field(
        default=None,
        ge=1,
        description=(
            "How many run targets may use the device at a time, whichever sessions on this machine they are of; where"
            " configs of one device differ, the smallest. Without it, one; on the host's cores (`local-sync`,"
            " `local-task`), any number, which take no turns with those of configs that give it."
        ),
        examples=[2],
    )


class TargetConfigTable(ConfigTable):
    """Ties compiler configs to runtime configs under one name."""

    compiler: OneOrMore = Field(
        description="Names of compiler configs, one or a list; globs allowed.",
        examples=["llvm-cpu", ["llvm-cpu-*"]],
    )
    runtimes: list[str] = Field(
        description="Names of runtime configs; globs allowed. An empty list means compile only.",
        examples=[["linux-x64-local-task", "linux-x64-local-sync"]],
    )


class ModuleTable(_Table):
    """What a suite says of some of its modules."""

    match: OneOrMore = Field(
        description=(
            "Names of modules (the path below the suite's folder, without the suffix), one or a list; globs allowed,"
            " and `*` also matches `/`. One that matches no module is an error."
        ),
        examples=["reverse*"],
    )
    exclude_targets: list[str] = Field(
        default=[],
        description=(
            "Names of target configs, compiler configs and runtime configs to take these modules out of; globs allowed."
            " A compiler config takes its run targets with it. One that matches nothing in the suite is an error."
        ),
        examples=[["vulkan"]],
    )
    tags: list[str] = Field(default=[], description="Further words that select these modules' targets with `-m`.")
    flags: list[str] = Field(default=[], description="Compiler flags for these modules, after all others.")
    reason: str = Field(
        default="",
        description="Why. Required with `exclude_targets`: a hole in the matrix says why it is there.",
        examples=["linalg.reverse has no SPIR-V lowering yet"],
    )


class ModuleTestSuiteTable(_Table):
    """Sources times target configs."""

    name: str = Field(
        description="Unique in a session. A letter or digit, then letters, digits and any of `.` `_` `+` `-`.",
        examples=["linalg"],
    )
    srcs: list[str] = Field(
        min_length=1,
        description=(
            "Globs of source programs, relative to this file and never outside its folder. `**` is any number of"
            " folders; names that start with a dot are found only by a glob that starts with one, `matrix.toml` and"
            " `suite.toml` by none. One that matches nothing is an error unless `allow_empty`."
        ),
        examples=[["*.mlir", "onnx/**/*.mlir"]],
    )
    exclude: list[str] = Field(
        default=[],
        description="Globs of sources to leave out. One that matches none of them is an error.",
        examples=[["broken_*.mlir"]],
    )
    allow_empty: bool = Field(default=False, description="Whether globs in `srcs` may match nothing.")
    only: list[str] = Field(
        default=[],
        description=(
            "Globs over the names and tags of modules (`*` also matches `/`): take only modules that match one of them."
            " One that matches no module is an error. Without it, all."
        ),
        examples=[["op-Conv", "test_softmax_*"]],
    )
    without: list[str] = Field(
        default=[],
        description="Globs as in `only`: leave out modules that match one of them.",
        examples=[["*_expanded"]],
    )
    kind: str = Field(
        description=(
            "How a module says what to call and what to expect, by the name of a case loader: `check` for modules that"
            " check themselves."
        ),
        examples=["check"],
    )
    targets: list[str] = Field(
        min_length=1,
        description="Names of target configs; globs allowed. A suite has at most 1,000,000 targets.",
        examples=[["cpu", "vulkan"]],
    )
    compiler_flags: list[str] = Field(
        default=[], description="Compiler flags for all modules of the suite, after those of the compiler config."
    )
    tags: list[str] = Field(default=[], description="Further words that select the suite's targets with `-m`.")
    timeout: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that each compile and each run of this suite may take; wins over those of the configs.",
        examples=[300],
    )
    module: list[ModuleTable] = Field(default=[], description="What is different for some modules.")


class ExpectationTable(_Table):
    """What is known to fail: targets, the stage they fail at, the diagnostic, and why."""

    match: OneOrMore = Field(
        description=(
            "Names of modules (as `retarget list` shows them in front of the compiler config), one or a list; globs"
            " allowed, and `*` also matches `/`. One that matches no target is an error of a full run."
        ),
        examples=["test_nllloss_*", ["reverse", "sort/*"]],
    )
    when: str = Field(
        default="",
        description=(
            "Which of these modules' targets, by their tags, in the language of `-m`. Without it, all of them. A word"
            " that no target has is an error of a full run."
        ),
        examples=["vulkan", "llvm-cpu and not local-task"],
    )
    case: OneOrMore = Field(
        default=[],
        description=(
            "Names of cases, one or a list; globs allowed. Each of these cases must fail as the rule says, and the rule"
            " says nothing of other cases. Without it, the rule excuses every case that fails so. One that matches no"
            " case is an error of a run that loaded all modules of the rule."
        ),
        examples=["softmax-large", ["wide_*", "nan"]],
    )
    stage: Stages = Field(
        default=[],
        description=(
            "Where they fail, one or a list: `compile`, `load`, `run`, `compare`, or `crash` and `timeout` at whichever"
            " of these. Required unless the outcome is `skip`, which takes none."
        ),
        examples=["compile", ["compare", "crash"]],
    )
    signature: str = Field(
        default="",
        description=(
            "The first diagnostic, or a part of it, without locations, numbers and names of values; for a crash the"
            " signal's name. A failure with another one is not excused. Without it, any."
        ),
        examples=["failed to legalize operation 'torch.aten.nll_loss_forward'"],
    )
    outcome: str = Field(
        default="xfail",
        description=(
            "How the targets are judged. `xfail`: the failure is expected, and a pass is a failure. `skip`: the targets"
            " are not even tried. `flaky`: they are tried again, up to `retries` times, and counted apart."
            " `intermittent`: the result is chance; they are tried once and counted apart, whether they pass or fail in"
            " this way. It needs `until`."
        ),
        examples=["flaky"],
        json_schema_extra={"enum": list(OUTCOMES)},
    )
    retries: int | None = Field(
        default=None,
        ge=1,
        description="How often a flaky target is tried again. Required with `flaky`, and only there.",
        examples=[2],
    )
    reason: str = Field(
        description="Why. Shown with every target that the rule excuses.",
        examples=["IREE lowers no torch.aten.nll_loss_forward"],
    )
    issue: str = Field(
        default="",
        description="Where the failure is reported, such as a link. Shown after the reason.",
        examples=["https://example.org/issues/7"],
    )
    until: date | None = Field(
        default=None,
        description=(
            "The last day on which the rule excuses anything. From the next day on its targets fail as if it were not"
            " there, and so does the run. Required with `intermittent`."
        ),
        examples=[date(2031, 1, 31)],
    )


class DeclarationFile(_Table):
    """A `matrix.toml` serves its folder and everything below it; a `suite.toml` declares the suites of its folder. An
    `expectations.toml` holds expectations alone and serves its folder and everything below it."""

    root: bool = Field(
        default=False,
        description="In `matrix.toml`: do not look for further `matrix.toml` files in the folders above.",
    )
    compiler_config: list[CompilerConfigTable] = Field(default=[], description="Named ways to compile.")
    runtime_config: list[RuntimeConfigTable] = Field(default=[], description="Named ways to run.")
    target_config: list[TargetConfigTable] = Field(
        default=[], description="Compiler configs tied to runtime configs under one name."
    )
    module_test_suite: list[ModuleTestSuiteTable] = Field(
        default=[], description="Sources times target configs. In `suite.toml` only."
    )
    expectation: list[ExpectationTable] = Field(
        default=[],
        description="What is known to fail. In all three files; in `expectations.toml` nothing else is allowed.",
    )
