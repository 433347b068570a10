"""Which words select a target with `-m`, and which keyword marks: `-m "driver(name='vulkan')"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig, Suite, Target, TargetConfig
from retarget.model.names import TARGET_SORTS, is_tag
from retarget.targets.availability import SYSTEM_ALIASES

Mark = tuple[str, tuple[tuple[str, str], ...]]

MARK_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("suite", ("name",)),
    ("compiler", ("name",)),
    ("backend", ("name",)),
    ("runtime", ("name",)),
    ("driver", ("name",)),
    ("platform", ("os", "arch")),
    ("device", ("name",)),
    ("toolchain", ("name",)),
)
"""Each keyword mark with the names of its arguments. `compiler` and `runtime` are the names of the configs."""

_COMPILE, _RUN = TARGET_SORTS
_NUMBER = re.compile(r"\d+")


def tag_sources(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    runtime: RuntimeConfig | None = None,
    driver: Sequence[str] = (),
    module: Sequence[str] = (),
    own: Sequence[str] = (),
) -> dict[str, str]:
    """Return the words of a target in order, each with its source. Without a `runtime` it is a compile target.

    `backends` are the words that the compiler derived from its config, `driver` those of the driver; `targets` are the
    target configs that the target is reached through, `module` the words that overrides add, `own` those of the module
    itself. Names come before what is declared or derived. Words that `-m` cannot take are left out, such as the name of
    a device with blanks in it.
    """
    words = [(suite.name, "the suite"), *((tag, f"tags of suite {suite.name}") for tag in suite.tags)]
    words.append((compiler.name, "the compiler config"))
    words += [(tag, f"derived by compiler {compiler.compiler}") for tag in backends]
    words += [(tag, f"tags of compiler config {compiler.name}") for tag in compiler.tags]
    words += _toolchain_words(compiler)
    for target in targets:
        words.append((target.name, "the target config"))
        words += [(tag, f"tags of target config {target.name}") for tag in target.tags]
    words += [(tag, "the module") for tag in own]
    words += [(tag, "an override of the suite") for tag in module]
    if runtime is not None:
        words += [(runtime.name, "the runtime config")]
        words += [(one, "the driver") for one in runtime.drivers]
        words += [(tag, f"derived by driver {runtime.driver}") for tag in driver]
        words += [(system, "host_os") for system in runtime.host_os]
        words += [(architecture, "host_arch") for architecture in runtime.host_arch]
        words += [(device, "the device") for device in runtime.devices if not _NUMBER.fullmatch(device)]
        words += [(tag, f"tags of runtime config {runtime.name}") for tag in runtime.tags]
        words += _toolchain_words(runtime)
        if runtime.host is not None:
            words.append((runtime.host.name, "the host"))
            words += [(tag, f"tags of host {runtime.host.name}") for tag in runtime.host.tags]
    sources = {_COMPILE if runtime is None else _RUN: "the sort of target"}
    for word, source in words:
        for one in (word, *(alias for alias, system in SYSTEM_ALIASES.items() if system == word)):
            if is_tag(one):
                sources.setdefault(one, source)
    return sources


def _toolchain_words(config: CompilerConfig | RuntimeConfig) -> list[tuple[str, str]]:
    toolchain = config.toolchain
    if toolchain is None:
        return []
    sort = "compiler" if isinstance(config, CompilerConfig) else "runtime"
    tags = [(tag, f"tags of toolchain {toolchain.name}") for tag in toolchain.tags]
    return [(toolchain.name, f"the toolchain of the {sort} config"), *tags]


def marks_of(target: Target) -> tuple[Mark, ...]:
    """Return the keyword marks of a target as (name, ((argument, value), …)), in the order of `MARK_FIELDS`.

    A runtime config that allows several systems or architectures has one `platform` mark for each pair.
    """
    if isinstance(target, CompileTarget):
        compile_marks = _compile_marks(target.suite, target.compiler.name, target.backends)
        return (*compile_marks, *_toolchain_marks(target.compiler))
    compiled, runtime = target.compile, target.runtime
    return (
        *_compile_marks(compiled.suite, compiled.compiler.name, compiled.backends),
        *_runtime_marks(runtime.name, runtime.drivers, runtime.host_os, runtime.host_arch, runtime.devices),
        *_toolchain_marks(compiled.compiler, runtime),
    )


def _toolchain_marks(*configs: CompilerConfig | RuntimeConfig) -> Iterable[Mark]:
    names = dict.fromkeys(config.toolchain.name for config in configs if config.toolchain is not None)
    return (("toolchain", (("name", name),)) for name in names)


# Many targets have the same marks: they are created once.


@lru_cache(maxsize=1024)
def _compile_marks(suite: str, compiler: str, backends: tuple[str, ...]) -> tuple[Mark, ...]:
    return (
        ("suite", (("name", suite),)),
        ("compiler", (("name", compiler),)),
        *(("backend", (("name", backend),)) for backend in backends),
    )


@lru_cache(maxsize=1024)
def _runtime_marks(
    runtime: str,
    drivers: tuple[str, ...],
    host_os: tuple[str, ...],
    host_arch: tuple[str, ...],
    devices: tuple[str, ...],
) -> tuple[Mark, ...]:
    platforms = [
        tuple((name, word) for name, word in (("os", system), ("arch", architecture)) if word)
        for system in (*host_os, *(alias for alias, word in SYSTEM_ALIASES.items() if word in host_os)) or ("",)
        for architecture in host_arch or ("",)
    ]
    return (
        ("runtime", (("name", runtime),)),
        *(("driver", (("name", driver),)) for driver in drivers),
        *(("platform", platform) for platform in platforms if platform),
        *(("device", (("name", device),)) for device in devices),
    )
