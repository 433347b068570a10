"""Which words select a target with `-m`, and which keyword marks: `-m "driver(name='vulkan')"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig, Suite, Target, TargetConfig
from retarget.model.names import TARGET_SORTS, is_tag
from retarget.targets.availability import SYSTEM_ALIASES

__all__ = ["MARK_FIELDS", "Mark", "compile_tags", "marks", "run_tags", "tag_sources"]

Mark = tuple[str, tuple[tuple[str, str], ...]]

MARK_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("suite", ("name",)),
    ("compiler", ("name",)),
    ("backend", ("name",)),
    ("runtime", ("name",)),
    ("driver", ("name",)),
    ("platform", ("os", "arch")),
    ("device", ("name",)),
)
"""Each keyword mark with the names of its arguments. `compiler` and `runtime` are the names of the configs."""

_COMPILE, _RUN = TARGET_SORTS
_NUMBER = re.compile(r"\d+")


def compile_tags(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str] = (),
    own: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the words of a compile target, in order and once each.

    `targets` are the target configs that it is reached through, `module` the words that overrides add, `own` those of
    the module itself.
    """
    words = _compile_words(suite=suite, compiler=compiler, backends=backends, targets=targets, module=module, own=own)
    return (_COMPILE, *_distinct(words))


def run_tags(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    runtime: RuntimeConfig,
    driver: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str] = (),
    own: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the words of a run target: those of its compile target but for the sort, and those of its runtime.

    `driver` are the words that the driver derived from the config, `targets` the target configs that the run target is
    reached through.
    """
    words = _compile_words(suite=suite, compiler=compiler, backends=backends, targets=targets, module=module, own=own)
    return (_RUN, *_distinct([*words, *_run_words(runtime, driver)]))


def tag_sources(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    runtime: RuntimeConfig | None,
    driver: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str] = (),
    own: Sequence[str] = (),
) -> tuple[tuple[str, str], ...]:
    """Return each word of a target with where it comes from, in the order of its tags."""
    words = _compile_words(suite=suite, compiler=compiler, backends=backends, targets=targets, module=module, own=own)
    words += _run_words(runtime, driver) if runtime is not None else []
    sources = {_COMPILE if runtime is None else _RUN: "the sort of target"}
    for word, source in _with_aliases(words):
        if is_tag(word):
            sources.setdefault(word, source)
    return tuple(sources.items())


_Words = list[tuple[str, str]]


def _compile_words(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str],
    own: Sequence[str],
) -> _Words:
    """Return the words with their sources. Names come before what is declared or derived."""
    words = [(suite.name, "the suite"), *((tag, f"tags of suite {suite.name}") for tag in suite.tags)]
    words.append((compiler.name, "the compiler config"))
    words += [(tag, f"derived by compiler {compiler.compiler}") for tag in backends]
    words += [(tag, f"tags of compiler config {compiler.name}") for tag in compiler.tags]
    for target in targets:
        words.append((target.name, "the target config"))
        words += [(tag, f"tags of target config {target.name}") for tag in target.tags]
    words += [(tag, "the module") for tag in own]
    words += [(tag, "an override of the suite") for tag in module]
    return words


def _run_words(runtime: RuntimeConfig, driver: Sequence[str]) -> _Words:
    return [
        (runtime.name, "the runtime config"),
        (runtime.driver, "the driver"),
        *((tag, f"derived by driver {runtime.driver}") for tag in driver),
        *((system, "host_os") for system in runtime.host_os),
        *((architecture, "host_arch") for architecture in runtime.host_arch),
        *((device, "the device") for device in runtime.devices if not _NUMBER.fullmatch(device)),
        *((tag, f"tags of runtime config {runtime.name}") for tag in runtime.tags),
    ]


def _distinct(words: _Words) -> tuple[str, ...]:
    """Return the words that `-m` can take, once each; a device's name may have blanks in it."""
    return tuple(dict.fromkeys(word for word, _ in _with_aliases(words) if is_tag(word)))


def _with_aliases(words: _Words) -> _Words:
    """Return the words and, after each that has one, its alias from the same source."""
    aliases = {word: alias for alias, word in SYSTEM_ALIASES.items()}
    return [(one, source) for word, source in words for one in ((word, aliases[word]) if word in aliases else (word,))]


def marks(target: Target) -> tuple[Mark, ...]:
    """Return the keyword marks of a target as (name, ((argument, value), …)), in the order of `MARK_FIELDS`.

    A runtime config that allows several systems or architectures has one `platform` mark for each pair.
    """
    if isinstance(target, CompileTarget):
        return _compile_marks(target.suite, target.compiler.name, target.backends)
    compiled, runtime = target.compile, target.runtime
    return (
        *_compile_marks(compiled.suite, compiled.compiler.name, compiled.backends),
        *_runtime_marks(runtime.name, runtime.driver, runtime.host_os, runtime.host_arch, runtime.devices),
    )


# Many targets have the same marks: they are made once.


@lru_cache(maxsize=1024)
def _compile_marks(suite: str, compiler: str, backends: tuple[str, ...]) -> tuple[Mark, ...]:
    return (
        ("suite", (("name", suite),)),
        ("compiler", (("name", compiler),)),
        *(("backend", (("name", backend),)) for backend in backends),
    )


@lru_cache(maxsize=1024)
def _runtime_marks(
    runtime: str, driver: str, host_os: tuple[str, ...], host_arch: tuple[str, ...], devices: tuple[str, ...]
) -> tuple[Mark, ...]:
    platforms = [
        tuple((name, word) for name, word in (("os", system), ("arch", architecture)) if word)
        for system in (*host_os, *(alias for alias, word in SYSTEM_ALIASES.items() if word in host_os)) or ("",)
        for architecture in host_arch or ("",)
    ]
    return (
        ("runtime", (("name", runtime),)),
        ("driver", (("name", driver),)),
        *(("platform", platform) for platform in platforms if platform),
        *(("device", (("name", device),)) for device in devices),
    )
