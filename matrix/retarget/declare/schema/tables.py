"""What may be written in `matrix.toml`, `suite.toml` and `expectations.toml`, as pydantic models.

The models describe the text. The JSON Schema for editors and the reference in docs/declarations.md are generated from
their descriptions. What the text means (names, inheritance, products, files) is the business of
`retarget.declare.load`.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from retarget.declare.schema import OUTCOMES, STAGES
from retarget.model.metrics import Metric


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


AxisValue = str | int


def _one_or_more(word: dict[str, Any], **constraints: object) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [word, {"type": "array", "items": word, "minItems": 1, **constraints}]})


Glob = Annotated[str, Field(max_length=1000)]
"""A name or a pattern of names. Bounded, because patterns of brackets take time that grows with their square."""

OneOrMore = Annotated[list[Glob], BeforeValidator(_listed), Field(min_length=1), _one_or_more({"type": "string"})]
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


class ConfigTable(_Table):
    """What compiler, runtime and target configs have in common."""

    name: str = Field(examples=["llvm-cpu"])
    """Unique among the configs of its sort that a file can see. A letter or digit, then letters, digits and any of `.`
    `_` `+` `-`; no `_` in the names of compiler and runtime configs, because `_` separates the parts of a target's
    name. With `axes` it must use every axis."""

    tags: list[str] = Field(default=[], examples=[["cpu", "nightly"]])
    """Further words that select the config's targets with `-m`."""

    axes: dict[str, list[AxisValue]] = Field(default={}, examples=[{"opt": ["O0", "O3"], "threads": [1, 2]}])
    """A product declaration: one config for each combination of the values, the last axis varying fastest. All strings
    of the config may hold `{axis}`; `{{axis}}` is the text `{axis}`. Other places refer to the resulting names. At most
    10,000 combinations, those of `exclude` included."""

    exclude: list[Exclusion] = Field(default=[], examples=[[{"opt": "O0", "threads": 2}], [["O0", 2]]])
    """Combinations of `axes` to leave out: a table of axes and values (axes that it does not name may have any value)
    or a list of all values in the order of the axes. One that matches nothing is an error."""


class ToolchainTable(ConfigTable):
    """One build of a compiler and its runtime, to be used by compiler and runtime configs."""

    path: str = Field(examples=["../iree-build", "build/toolchains/iree-{version}", "PATH"])
    """Where the build is: a folder with installed packages, a virtual environment, or a build folder, relative to this
    file; `PATH` means the tools that the environment variable finds."""

    run_with: str = Field(default="", examples=["iree/_runtime_libs/iree-run-module"])
    """The tool that runs artifacts, a process for each call, relative to `path`. Without it, the extension looks for
    its own tool where the runtime config has `run_under` or the build has nothing else."""

    install: str = Field(default="", examples=["make toolchains"])
    """The command that puts the build there. A skip for want of it shows the command."""


class HostTable(ConfigTable):
    """A machine that runs artifacts for this one, with the driver's tool. It needs a POSIX shell, and no Python."""

    kind: str = Field(examples=["ssh"])
    """How this machine connects to it: `ssh` (the OpenSSH client, with your own configuration), `adb`, or `command`
    (`push`, `pull` and `run`)."""

    address: str = Field(default="", examples=["pi5", "ci@board.example", "R5CT1234"])
    """For `ssh` the destination, as `ssh` takes it, such as a name of `~/.ssh/config`; required. For `adb` the serial
    number; without it, the only device there is."""

    options: list[str] = Field(default=[], examples=[["-o", "ProxyJump=lab"]])
    """Further arguments of `ssh` or `adb`, before the destination or the serial number."""

    push: list[str] = Field(default=[], examples=[["docker", "cp", "{local}", "board:{remote}"]])
    """For `command`: the command that copies the file `{local}` of this machine to the path `{remote}` of the host."""

    pull: list[str] = Field(default=[], examples=[["docker", "cp", "board:{remote}", "{local}"]])
    """For `command`: the command that copies back."""

    run: list[str] = Field(default=[], examples=[["docker", "exec", "-i", "board", "sh", "-c", "{command}"]])
    """For `command`: the command that has a shell of the host run `{command}`. It hands on standard input, output and
    error."""

    folder: str = Field(default="", examples=["/data/retarget"])
    """The folder on the host that files are pushed to, one for each user. Without it, `.cache/retarget` in the home
    folder for `ssh`, `/data/local/tmp/retarget` for `adb`, `/tmp/retarget` for `command`."""

    lease_folder: str = Field(default="", examples=["/var/lib/retarget-leases"])
    """The folder on the host with the leases of its devices, the same for all its users. Without it,
    `/tmp/retarget-host-leases`, for `adb` `/data/local/tmp/retarget-leases`."""

    run_with: str = Field(default="", examples=["/opt/iree/bin/iree-run-module"])
    """The tool on the host. Without it, the tool of the runtime config's toolchain, or of this environment, is pushed
    with the libraries beside it."""

    env: dict[str, str] = Field(default={}, examples=[{"LD_LIBRARY_PATH": "/vendor/lib64"}])
    """Environment variables of the tool there; those of the runtime config win."""


class InheritableConfigTable(ConfigTable):
    """What compiler and runtime configs have in common."""

    extends: str | None = None
    """Another config of the same sort. Its flags come first, its environment is merged (this one wins), and what is not
    written here is taken from it."""


class CompilerConfigTable(InheritableConfigTable):
    """A named way to compile."""

    compiler: str | None = Field(default=None, examples=["iree"])
    """The compiler, by the name its extension gives it. Required unless `extends` provides it."""

    flags: list[str] = Field(
        default=[], examples=[["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]]
    )
    """Flags for the compiler, passed unchanged. The compiler resolves relative paths."""

    env: dict[str, str] = Field(default={}, examples=[{"MALLOC_ARENA_MAX": "1"}])
    """Environment variables of the compiler's process."""

    devices: dict[str, str] = Field(default={}, examples=[{"device_a": "vulkan", "device_b": "local"}])
    """Named compile devices, in order. The IREE compiler takes each as `--iree-hal-target-device=name=value`."""

    toolchain: str | None = Field(default=None, examples=["iree-3.12.0"])
    """The build of the compiler, by the name of a `[[toolchain]]`. Without it, what is installed in the environment."""

    target_from: OneOrMore = Field(
        default=[], examples=["vulkan-lavapipe", ["profiles/mali.toml", "cpu-aarch64"], "host"]
    )
    """Device profiles to compile for, one or a list: a profile file (ends in `.toml`, relative to this file), the name
    of a shipped profile, `host` for the host's CPU, or `host:URI` for a device of this host (`host:vulkan://0`). With
    several, the artifact holds code for each and the device selects at run time."""

    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False, examples=[120])
    """Seconds that one compile may take. A suite's own `timeout` overrides it."""


class DeviceTable(_Table):
    """A table in `devices` of a runtime config. A string there is its `device`."""

    role: str = Field(default="", examples=["device_a"])
    """The compile device, of the `devices` of the compiler config, that this device is for. Without roles, the devices
    are handed to the runtime in the order of the runtime config. All devices of a config have a role, or none has."""

    driver: str = Field(default="", examples=["vulkan"])
    """The device's HAL driver. Without it, that of the runtime config."""

    device: str = Field(default="", examples=["0"])
    """The device of this driver: a URI, an ordinal or a name. Without it, the driver's default device."""

    used: bool | None = Field(default=None, examples=[True])
    """Whether every case must execute work on this device (`true`), or none may (`false`): the runtime records what it
    dispatches to which device. Without it, nothing is asked."""


def _table_of_device(value: object) -> object:
    return {"device": value} if isinstance(value, str) else value


Device = Annotated[DeviceTable, BeforeValidator(_table_of_device, json_schema_input_type=str | DeviceTable)]


class RuntimeConfigTable(InheritableConfigTable):
    """A named way to run."""

    driver: str | None = Field(default=None, examples=["local-task"])
    """The HAL driver, by the name its extension gives it. Required unless `extends` provides it, or every one of
    `devices` names a driver."""

    device: str | None = Field(default=None, examples=["vulkan://0"])
    """The device to run on: a URI, an ordinal or a name. Without it, the driver's default device."""

    devices: list[Device] = Field(
        default=[], examples=[["vulkan://0", "local-task://"], [{"role": "device_a", "driver": "vulkan"}]]
    )
    """Several devices, in order, also of several drivers; instead of `device`. Each is a URI, an ordinal or a name, or
    a table, which may say what the device is for. With roles, the order is that of the compile devices."""

    distinct: bool = False
    """Whether `devices` must be as many physical devices. Where this machine has fewer, the run targets are skipped."""

    flags: list[str] = Field(default=[], examples=[["--task_topology_group_count=2"]])
    """Flags for the runtime."""

    env: dict[str, str] = Field(default={}, examples=[{"VK_LOADER_LAYERS_ENABLE": "*validation"}])
    """Environment variables of the device worker."""

    host_os: OneOrMore = Field(default=[], examples=["linux", ["linux", "android"]])
    """Operating systems of hosts that can run this, one or a list: `android`, `ios`, `linux`, `macos` (`darwin` means
    the same), `windows`. Elsewhere the run targets are skipped. Without it, any."""

    host_arch: OneOrMore = Field(default=[], examples=["x86_64"])
    """Architectures of hosts that can run this, one or a list: `arm`, `arm64`, `loongarch64`, `ppc64le`, `riscv32`,
    `riscv64`, `s390x`, `wasm32`, `wasm64`, `x86`, `x86_64`. Without it, any."""

    run_under: list[str] = Field(default=[], examples=[["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]])
    """A command and its first arguments that runs the toolchain's tool: an
    [emulator or a wrapper](machines.md#emulators-and-wrappers)."""

    host: str | None = Field(default=None, examples=["pi5"])
    """The machine that runs the modules, by the name of a `[[host]]`: see [remote hosts](machines.md#remote-hosts).
    Without it, this one."""

    sanitize: bool = False
    """Whether the driver checks each access to memory; what it finds fails the run. Only for drivers that can: `opencl`
    runs the kernels on Oclgrind ([sanitizer](opencl.md#sanitizer))."""

    deps: list[str] = Field(default=[], examples=[["//runtime/src/iree/hal/drivers/vulkan"]])
    """What a build of this runtime needs. Carried to listings; never influences a run."""

    defines: dict[str, str] = Field(default={}, examples=[{"IREE_HAL_DRIVER_VULKAN": "ON"}])
    """Definitions that a build of this runtime needs. Carried to listings; never influence a run."""

    requires: list[str] = Field(default=[], examples=[["memory >= 8 GiB", "vulkan.shaderFloat64"]])
    """What a device must have for the run targets of this config; on another they are skipped. See
    [requirements](devices.md#require-something-of-a-device)."""

    device_type: str | None = Field(default=None, examples=["gpu"])
    """`gpu`, `cpu` or `accelerator`: the same as `device_type = gpu` in `requires`. With `gpu`, nothing runs on an
    implementation of the driver for the CPU."""

    profile: str | None = Field(default=None, examples=["profiles/mali.toml", "vulkan-lavapipe"])
    """The device that this config is expected to have, as a profile: a profile file (ends in `.toml`, relative to this
    file), or the name of a shipped profile."""

    toolchain: str | None = Field(default=None, examples=["iree-3.12.0"])
    """The build of the runtime, by the name of a `[[toolchain]]`. Without it, what is installed in the environment."""

    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False, examples=[60])
    """Seconds that one run target may take, without waiting. A suite's own `timeout` overrides it."""

    concurrency: int | None = Field(default=None, ge=1, examples=[2])
    """How many run targets may use the device at a time, whichever sessions on this machine they are of; where configs
    of one device differ, the smallest. Without it, one; on the host's cores (`local-sync`, `local-task`), any number,
    which do not wait for those of configs that give it."""


class TargetConfigTable(ConfigTable):
    """Ties compiler configs to runtime configs under one name."""

    compiler: OneOrMore = Field(examples=["llvm-cpu", ["llvm-cpu-*"]])
    """Names of compiler configs, one or a list; globs allowed."""

    runtimes: list[Glob] = Field(examples=[["linux-x64-local-task", "linux-x64-local-sync"]])
    """Names of runtime configs; globs allowed. An empty list means compile only."""


class ModuleTable(_Table):
    """What a suite says of some of its modules."""

    match: OneOrMore = Field(examples=["reverse*"])
    """Names of modules (the path below the suite's folder, without the suffix), one or a list; globs allowed, and `*`
    also matches `/`. One that matches no module is an error."""

    exclude_targets: list[Glob] = Field(default=[], examples=[["vulkan"]])
    """Names of target configs, compiler configs and runtime configs to take these modules out of; globs allowed. A
    compiler config takes its run targets with it. One that matches nothing in the suite is an error."""

    tags: list[str] = Field(default=[])
    """Further words that select these modules' targets with `-m`."""

    flags: list[str] = Field(default=[])
    """Compiler flags for these modules, after all others."""

    requires: list[str] = Field(default=[], examples=[["vulkan.shaderInt64", "opencl.fp64"]])
    """What a device must have to run these modules, in addition to what suite and runtime config require."""

    reason: str = Field(default="", examples=["linalg.reverse has no SPIR-V lowering yet"])
    """Why. Required with `exclude_targets`: a hole in the matrix says why it is there."""


class ModuleTestSuiteTable(_Table):
    """Sources times target configs."""

    name: str = Field(examples=["linalg"])
    """Unique in a session. A letter or digit, then letters, digits and any of `.` `_` `+` `-`."""

    srcs: list[Glob] = Field(min_length=1, examples=[["*.mlir", "onnx/**/*.mlir"]])
    """Globs of source programs, relative to this file and never outside its folder. `**` is any number of folders;
    names that start with a dot are found only by a glob that starts with one, `matrix.toml` and `suite.toml` by none.
    One that matches nothing is an error unless `allow_empty`."""

    exclude: list[Glob] = Field(default=[], examples=[["broken_*.mlir"]])
    """Globs of sources to leave out. One that matches none of them is an error, and so is leaving out all, unless
    `allow_empty`."""

    allow_empty: bool = False
    """Whether globs in `srcs` may match nothing."""

    only: list[Glob] = Field(default=[], examples=[["op-Conv", "test_softmax_*"]])
    """Globs over the names and tags of modules (`*` also matches `/`): take only modules that match one of them. One
    that matches no module is an error. Without it, all."""

    without: list[Glob] = Field(default=[], examples=[["*_expanded"]])
    """Globs as in `only`: leave out modules that match one of them."""

    kind: str = Field(examples=["check"])
    """How a module says what to call and what to expect, by the name of a case loader: `check` for modules that check
    themselves."""

    targets: list[Glob] = Field(min_length=1, examples=[["cpu", "vulkan"]])
    """Names of target configs; globs allowed. A suite has at most 1,000,000 targets."""

    compiler_flags: list[str] = Field(default=[])
    """Compiler flags for all modules of the suite, after those of the compiler config."""

    tags: list[str] = Field(default=[])
    """Further words that select the suite's targets with `-m`."""

    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False, examples=[300])
    """Seconds that each compile and each run of this suite may take; overrides those of the configs."""

    requires: list[str] = Field(default=[], examples=[["opencl.fp64", "memory >= 8 GiB", "devices >= 2"]])
    """What a device must have to run the modules of this suite; on another their run targets are skipped. What is named
    after another driver is not asked. See [requirements](devices.md#require-something-of-a-device)."""

    agree: str = Field(default="", examples=["majority", "llvm-cpu"])
    """What the cases that say nothing of their results are to [agree](cases.md#agreement) with: `majority`, what most
    targets of the module give, or the name of a compiler config that runs all modules. For kinds `cases` and `onnx`."""

    module: list[ModuleTable] = Field(default=[])
    """What is different for some modules."""


class ExpectationTable(_Table):
    """What is known to fail: targets, the stage they fail at, the diagnostic, and why."""

    match: OneOrMore = Field(examples=["test_nllloss_*", ["reverse", "sort/*"]])
    """Names of modules (as `retarget list` shows them in front of the compiler config), one or a list; globs allowed,
    and `*` also matches `/`. One that matches no target is an error of a full run."""

    when: str = Field(default="", examples=["vulkan", "llvm-cpu and not local-task", "on(vendor='NVIDIA')"])
    """Which of these modules' targets, by their tags, in the language of `-m`, and on which devices, by `on(…)`: see
    [rules about a device](expectations.md#rules-about-a-device). Without it, all of them. A word that no target has is
    an error of a full run."""

    case: OneOrMore = Field(default=[], examples=["softmax-large", ["wide_*", "nan"]])
    """Names of cases, one or a list; globs allowed. Each of these cases must fail as the rule says, and the rule says
    nothing of other cases. Without it, the rule excuses every case that fails so. One that matches no case is an error
    of a run that loaded all modules of the rule."""

    stage: Stages = Field(default=[], examples=["compile", ["compare", "crash"]])
    """Where they fail, one or a list: `compile`, `load`, `run`, `compare`, or `crash` and `timeout` at whichever of
    these. Required unless the outcome is `skip`, which takes none."""

    signature: str = Field(default="", examples=["failed to legalize operation 'torch.aten.nll_loss_forward'"])
    """The first diagnostic, or a part of it, without locations, numbers and names of values; for a crash the signal's
    name. A failure with another one is not excused. Without it, any."""

    outcome: str = Field(default="xfail", examples=["flaky"], json_schema_extra={"enum": list(OUTCOMES)})
    """How the targets are judged. `xfail`: the failure is expected, and a pass is a failure. `skip`: the targets are
    not even tried. `flaky`: they are tried again, up to `retries` times, and counted apart. `intermittent`: the result
    is chance; they are tried once and counted apart, whether they pass or fail in this way. It needs `until`."""

    retries: int | None = Field(default=None, ge=1, examples=[2])
    """How often a flaky target is tried again. Required with `flaky`, and only there."""

    reason: str = Field(examples=["IREE lowers no torch.aten.nll_loss_forward"])
    """Why. Shown with every target that the rule excuses."""

    issue: str = Field(default="", examples=["https://example.org/issues/7"])
    """Where the failure is reported, such as a link. Shown after the reason."""

    until: date | None = Field(default=None, examples=[date(2031, 1, 31)])
    """The last day on which the rule excuses anything. From the next day on its targets fail as if it were not there,
    and so does the run. Required with `intermittent`."""


class GoldenTable(_Table):
    """What a benchmark must not exceed: targets, a metric, its bound. See [benchmarks](measurements/benchmarks.md)."""

    match: OneOrMore = Field(examples=["matmul_*", ["resnet50", "sdxl/*"]])
    """Names of modules, one or a list, as in `[[expectation]]`. One that matches no target is an error of `retarget
    check`."""

    when: str = Field(default="", examples=["vulkan", "rocm and on(name='*MI300*')"])
    """Which of these modules' targets, and on which devices, as in `[[expectation]]`. Without it, all of them. A word
    that no target has is an error of `retarget check`."""

    metric: str = Field(examples=["latency"], json_schema_extra={"enum": [metric.value for metric in Metric]})
    """What is bounded. Of run targets: `latency`, `device-time` and `first-call`. Of compile targets: `compile-time`,
    `artifact-size`, `dispatches` and `transient-memory`."""

    max: int | float | str | None = Field(default=None, examples=["12.5 ms", "8 MiB", 1343])
    """The most that it may be: a time with its unit (`ns`, `us`, `ms`, `s`), a size with its unit (`B`, `KiB`, `MiB`,
    `GiB`), or a number of dispatches. Either `max` or `within`."""

    within: str | None = Field(default=None, examples=["10 %"])
    """How much larger than in the baseline it may be, in percent. What is timed fails only where it is larger than that
    and the noise does not explain it. Either `max` or `within`."""

    reason: str = Field(examples=["the decoder has to keep up with speech"])
    """Why. Shown with every target that the rule fails."""

    issue: str = Field(default="", examples=["https://example.org/issues/7"])
    """Where more is said of it, such as a link. Shown after the reason."""

    until: date | None = Field(default=None, examples=[date(2031, 1, 31)])
    """The last day on which the rule holds. From the next day on it bounds nothing and is an error of `retarget
    check`."""


class DeclarationFile(_Table):
    """A `matrix.toml` serves its folder and everything below it; a `suite.toml` declares the suites of its folder. An
    `expectations.toml` holds expectations and golden rules alone and serves its folder and everything below it."""

    root: bool = False
    """In `matrix.toml`: do not look for further `matrix.toml` files in the folders above."""

    toolchain: list[ToolchainTable] = Field(default=[])
    """Builds of compilers and runtimes other than what is installed in the environment."""

    host: list[HostTable] = Field(default=[])
    """Machines that run artifacts for this one."""

    compiler_config: list[CompilerConfigTable] = Field(default=[])
    """Named ways to compile."""

    runtime_config: list[RuntimeConfigTable] = Field(default=[])
    """Named ways to run."""

    target_config: list[TargetConfigTable] = Field(default=[])
    """Compiler configs tied to runtime configs under one name."""

    module_test_suite: list[ModuleTestSuiteTable] = Field(default=[])
    """Sources times target configs. In `suite.toml` only."""

    expectation: list[ExpectationTable] = Field(default=[])
    """What is known to fail. In all three files; in `expectations.toml` only this and `golden` are allowed."""

    golden: list[GoldenTable] = Field(default=[])
    """What benchmarks must not exceed. In all three files."""


def table_of(kind: str) -> type[BaseModel]:
    """Return the model of the tables under a key of a file."""
    model: type[BaseModel] = get_args(DeclarationFile.model_fields[kind].annotation)[0]
    return model
