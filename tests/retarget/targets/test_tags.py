"""The words and keyword marks of targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from msgspec.structs import replace
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, Host, Module, Origin, RuntimeConfig, Suite, TargetConfig, Toolchain
from retarget.model.names import as_config_name, config_name_error, is_tag, name_error, tag_error
from retarget.targets.expansion import expand_suite
from retarget.targets.selection import MARK_FIELDS, marks_of, tag_sources

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


def test_all_words_are_words_of_pytests_own_expressions() -> None:
    for target in expand_suite(SUITE, REGISTRY):
        for tag in target.tags:
            seen: list[str] = []
            assert Expression.compile(tag).evaluate(lambda name, seen=seen, **_: seen.append(name) is None)  # type: ignore[misc]
            assert seen == [tag]


def test_without_the_extension_the_names_stay_and_only_derived_words_are_missing() -> None:
    bare = expand_suite(SUITE, Registry())
    assert [target.name for target in bare] == [target.name for target in expand_suite(SUITE, REGISTRY)]
    assert "spirv" not in bare[0].tags
    assert "icd" not in bare[1].tags


def test_keyword_marks_of_a_run_target() -> None:
    compiled, run = expand_suite(SUITE, REGISTRY)
    assert marks_of(compiled) == (
        ("suite", (("name", "linalg"),)),
        ("compiler", (("name", "vulkan-1.1"),)),
        ("backend", (("name", "spirv"),)),
        ("backend", (("name", "gpu"),)),
    )
    assert marks_of(run) == (
        *marks_of(compiled),
        ("runtime", (("name", "android-vulkan"),)),
        ("driver", (("name", "vulkan"),)),
        ("platform", (("os", "android"), ("arch", "arm64"))),
        ("platform", (("os", "linux"), ("arch", "arm64"))),
        ("device", (("name", "vulkan://0"),)),
        ("device", (("name", "1"),)),
        ("device", (("name", "Mali G78"),)),
    )


def test_marks_have_no_fields_but_those_announced() -> None:
    fields = dict(MARK_FIELDS)
    for target in expand_suite(SUITE, REGISTRY):
        for name, values in marks_of(target):
            assert {argument for argument, _ in values} <= set(fields[name])


def test_the_source_of_each_word_is_known() -> None:
    run = expand_suite(SUITE, REGISTRY)[1]
    sources = tag_sources(
        suite=SUITE,
        compiler=COMPILER,
        backends=("spirv", "gpu"),
        runtime=RUNTIME,
        driver=("icd",),
        targets=[TARGET],
        module=("odd",),
    )
    assert tuple(word for word in sources if word != "odd") == run.tags
    assert sources["gpu"] == "derived by compiler iree"
    assert sources["odd"] == "an override of the suite"


@pytest.mark.parametrize("word", ["a", "0", "vulkan://GPU-1", "a_b", "größe", "x[1]", "a\\b", "-", "+.:"])
def test_tags_that_can_be_used(word: str) -> None:
    assert is_tag(word)
    assert Expression.compile(word)


@pytest.mark.parametrize("word", ["", "a b", "a,b", "a(b)", "'a'", "and", "or", "not", "True", "None", "run", "skip"])
def test_tags_that_cannot_be_used(word: str) -> None:
    assert tag_error(word) is not None


@pytest.mark.parametrize(
    ("text", "name"), [("sm_80", "sm-80"), ("a--b", "a--b"), ("+x, +y_", "x-+y"), ("llvm-cpu", "llvm-cpu"), ("_ä", "")]
)
def test_the_config_name_nearest_to_a_text(text: str, name: str) -> None:
    assert as_config_name(text) == name
    assert not name or config_name_error(name) is None


@pytest.mark.parametrize(
    ("names", "is_name", "is_config_name"),
    [
        (["llvm-cpu", "vulkan-1.1+x", "0"], True, True),
        (["a_b"], True, False),
        (["-a", ".a", "_a", "a/b", "a\\b", "a b", "ä", "a\n", "", "or", "compile"], False, False),
    ],
)
def test_names(names: list[str], is_name: bool, is_config_name: bool) -> None:
    assert {name: name_error(name) is None for name in names} == dict.fromkeys(names, is_name)
    assert {name: config_name_error(name) is None for name in names} == dict.fromkeys(names, is_config_name)


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
    systems = [dict(arguments)["os"] for name, arguments in marks_of(target) if name == "platform"]
    assert systems == ["macos", "ios", "darwin"]
