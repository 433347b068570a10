"""The words and keyword marks of targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, Host, Module, Origin, RuntimeConfig, Suite, TargetConfig, Toolchain
from retarget.targets.expansion import expand_suite
from retarget.targets.selection import tag_sources

ORIGIN = Origin(file=Path("suite.toml"), key_path="module_test_suite[0]")


class Backends:
    """A compiler and driver that derive words."""

    name = "iree"
    artifact_suffix = ".vmfb"

    def tags(self, config: CompilerConfig | RuntimeConfig) -> Sequence[str]:
        return ["spirv", "gpu"] if isinstance(config, CompilerConfig) else ["icd"]


REGISTRY = Registry(compilers={"iree": Backends()}, drivers={"vulkan": Backends()})  # type: ignore[dict-item]

COMPILER = CompilerConfig(name="vulkan-1.1", compiler="iree", tags=("cc-tag", "gpu"), origin=ORIGIN)
RUNTIME = RuntimeConfig(
    name="android-vulkan",
    driver="vulkan",
    devices=("vulkan://0", "1", "Mali G78"),
    host_os=("android", "linux"),
    host_arch=("arm64",),
    tags=("rt-tag",),
    origin=ORIGIN,
)
TARGET = TargetConfig(name="mobile_gpu", compilers=(COMPILER,), runtimes=(RUNTIME,), tags=("t-tag",), origin=ORIGIN)
SUITE = Suite(
    name="linalg",
    folder=Path(),
    modules=(Module(name="m", path=Path("m.mlir")),),
    kind="check",
    targets=(TARGET,),
    tags=("s-tag",),
    origin=ORIGIN,
)


def test_a_compile_target_has_the_words_of_what_compiles_it() -> None:
    target = expand_suite(SUITE, REGISTRY)[0]
    assert target.tags == (
        *("compile", "linalg", "s-tag", "vulkan-1.1", "spirv", "gpu"),
        *("cc-tag", "mobile_gpu", "t-tag"),
    )


def test_a_run_target_has_those_and_the_words_of_what_runs_it() -> None:
    compiled, run = expand_suite(SUITE, REGISTRY)
    assert run.tags == (
        "run",
        *compiled.tags[1:],
        *("android-vulkan", "vulkan", "icd", "android", "linux", "arm64", "vulkan://0", "rt-tag"),
    )


def test_keyword_marks_of_a_run_target() -> None:
    compiled, run = expand_suite(SUITE, REGISTRY)
    assert compiled.marks == (
        ("suite", (("name", "linalg"),)),
        ("compiler", (("name", "vulkan-1.1"),)),
        ("backend", (("name", "spirv"),)),
        ("backend", (("name", "gpu"),)),
    )
    assert run.marks == (
        *compiled.marks,
        ("runtime", (("name", "android-vulkan"),)),
        ("driver", (("name", "vulkan"),)),
        ("platform", (("os", "android"), ("arch", "arm64"))),
        ("platform", (("os", "linux"), ("arch", "arm64"))),
        ("device", (("name", "vulkan://0"),)),
        ("device", (("name", "1"),)),
        ("device", (("name", "Mali G78"),)),
    )


def test_words_of_toolchains_and_hosts_come_with_where_they_are_from() -> None:
    own = Toolchain(name="own", path=None, tags=("nightly",), origin=ORIGIN)
    board = Host(name="board", kind="ssh", tags=("arm",), origin=ORIGIN)
    sources = tag_sources(
        suite=SUITE,
        compiler=replace(COMPILER, toolchain=own),
        backends=(),
        runtime=replace(RUNTIME, toolchain=replace(own, name="other", tags=()), host=board),
        driver=(),
        targets=(),
    )
    words = {
        "own": "the toolchain of the compiler config",
        "nightly": "tags of toolchain own",
        "other": "the toolchain of the runtime config",
        "board": "the host",
        "arm": "tags of host board",
    }
    assert {word: sources.get(word) for word in words} == words


def test_macos_is_selected_as_darwin_too() -> None:
    runtime = replace(RUNTIME, devices=(), host_os=("macos", "ios"), tags=())
    target = expand_suite(replace(SUITE, targets=(replace(TARGET, runtimes=(runtime,)),)), REGISTRY)[-1]
    words = set(target.tags)
    assert {"macos", "darwin", "ios"} <= words
    systems = [dict(arguments)["os"] for name, arguments in target.marks if name == "platform"]
    assert systems == ["macos", "ios", "darwin"]
