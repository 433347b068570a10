"""Suites become compile targets and run targets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime, table, target
from model_targets import ORIGIN
from retarget.cli import main
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import Registry, load_extensions
from retarget.model import (
    CompilerConfig,
    CompileTarget,
    Module,
    ModuleOverride,
    RunTarget,
    RuntimeConfig,
    Suite,
    TargetConfig,
)
from retarget.support.errors import DiagnosticsError, RetargetError
from retarget.targets import expansion
from retarget.targets.expansion import excluding_override, expand_suite, running_compilers

# The worked example of the IREE issue "Clear plan and standardization for driver/backend naming" (#2175).
EXAMPLE = "\n" + declarations(
    compiler("llvm-aot-arm64", flags=["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-triple=aarch64"]),
    compiler("vulkan-1.1-generic", flags=["--iree-hal-target-backends=vulkan-spirv"]),
    compiler("vulkan-1.1-mali", flags=["--iree-hal-target-backends=vulkan-spirv", "--iree-vulkan-target=valhall"]),
    compiler("metal-2-generic", flags=["--iree-hal-target-backends=metal-spirv"]),
    *(
        runtime(name, driver, host_os=system, host_arch=machine, deps=[f"//iree/hal/{library}"], defines=defines)
        for name, driver, system, machine, library, defines in (
            ("android-r29-arm64-dylib", "local-task", "android", "arm64", "dylib", {"ANDROID_API": "29"}),
            ("android-r29-arm64-vulkan", "vulkan", "android", "arm64", "vulkan", {"ANDROID_API": "29"}),
            ("ios-v13-arm64-dylib", "local-task", "ios", "arm64", "dylib", {"IOS_VERSION": "13"}),
            ("ios-v13-arm64-metal-2", "metal", "ios", "arm64", "metal", {"IOS_VERSION": "13"}),
            ("macos-v10.13-x64-metal-2", "metal", "macos", "x86_64", "metal", {"MACOS_VERSION": "10.13"}),
        )
    ),
    target("llvm-aot-arm64", "llvm-aot-arm64", ["android-r29-arm64-dylib", "ios-v13-arm64-dylib"]),
    target("vulkan-1.1-generic", "vulkan-1.1-generic", ["android-r29-arm64-vulkan"]),
    target("vulkan-1.1-mali", "vulkan-1.1-mali", ["android-r29-arm64-vulkan"]),
    target("metal-2-generic", "metal-2-generic", ["ios-v13-arm64-metal-2", "macos-v10.13-x64-metal-2"]),
    table(
        "module_test_suite",
        name="example",
        srcs=["foo.mlir", "bar.mlir"],
        kind="check",
        targets=["llvm-aot-arm64", "vulkan-1.1-generic", "vulkan-1.1-mali", "metal-2-generic"],
    ),
)

EXAMPLE_RUN_TARGETS = [
    "foo_llvm-aot-arm64_android-r29-arm64-dylib",
    "foo_llvm-aot-arm64_ios-v13-arm64-dylib",
    "foo_vulkan-1.1-generic_android-r29-arm64-vulkan",
    "foo_vulkan-1.1-mali_android-r29-arm64-vulkan",
    "foo_metal-2-generic_ios-v13-arm64-metal-2",
    "foo_metal-2-generic_macos-v10.13-x64-metal-2",
    "bar_llvm-aot-arm64_android-r29-arm64-dylib",
    "bar_llvm-aot-arm64_ios-v13-arm64-dylib",
    "bar_vulkan-1.1-generic_android-r29-arm64-vulkan",
    "bar_vulkan-1.1-mali_android-r29-arm64-vulkan",
    "bar_metal-2-generic_ios-v13-arm64-metal-2",
    "bar_metal-2-generic_macos-v10.13-x64-metal-2",
]


@pytest.fixture
def example(two_modules: Path) -> Path:
    path = two_modules / "suite.toml"
    path.write_text(EXAMPLE)
    return path


def test_the_example_of_2175_has_its_twelve_names(example: Path) -> None:
    (suite,) = DeclarationLoader().load_suite_file(example)
    targets = expand_suite(suite, Registry())
    assert [target.name for target in targets if isinstance(target, RunTarget)] == EXAMPLE_RUN_TARGETS
    assert [target.name for target in targets if isinstance(target, CompileTarget)] == [
        f"{module}_{compiler}"
        for module in ("foo", "bar")
        for compiler in ("llvm-aot-arm64", "vulkan-1.1-generic", "vulkan-1.1-mali", "metal-2-generic")
    ]


def test_the_example_of_2175_lists_its_distinct_runtime_builds(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "runtimes", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [
        (config["name"], config["deps"], config["defines"], config["run_targets"]) for config in listed["runtimes"]
    ] == [
        ("android-r29-arm64-dylib", ["//iree/hal/dylib"], {"ANDROID_API": "29"}, 2),
        ("ios-v13-arm64-dylib", ["//iree/hal/dylib"], {"IOS_VERSION": "13"}, 2),
        ("android-r29-arm64-vulkan", ["//iree/hal/vulkan"], {"ANDROID_API": "29"}, 4),
        ("ios-v13-arm64-metal-2", ["//iree/hal/metal"], {"IOS_VERSION": "13"}, 2),
        ("macos-v10.13-x64-metal-2", ["//iree/hal/metal"], {"MACOS_VERSION": "10.13"}, 2),
    ]
    assert [(build["host_os"], build["runtime_configs"]) for build in listed["builds"]] == [
        (["android"], ["android-r29-arm64-dylib"]),
        (["ios"], ["ios-v13-arm64-dylib"]),
        (["android"], ["android-r29-arm64-vulkan"]),
        (["ios"], ["ios-v13-arm64-metal-2"]),
        (["macos"], ["macos-v10.13-x64-metal-2"]),
    ]


def compiler(name: str, **more: object) -> CompilerConfig:
    return CompilerConfig(name=name, compiler="iree", origin=ORIGIN, **more)  # type: ignore[arg-type]


def runtime(name: str, **more: object) -> RuntimeConfig:
    return RuntimeConfig(name=name, driver="local-sync", origin=ORIGIN, **more)  # type: ignore[arg-type]


def target_config(
    name: str, compilers: Sequence[CompilerConfig], runtimes: Sequence[RuntimeConfig], tags: Sequence[str] = ()
) -> TargetConfig:
    return TargetConfig(
        name=name, compilers=tuple(compilers), runtimes=tuple(runtimes), tags=tuple(tags), origin=ORIGIN
    )


def suite_of(targets: Sequence[TargetConfig], modules: Sequence[str] = ("m",), **more: object) -> Suite:
    return Suite(
        name="s",
        folder=Path(),
        modules=tuple(Module(name=name, path=Path(f"{name}.mlir")) for name in modules),
        kind="check",
        targets=tuple(targets),
        origin=ORIGIN,
        **more,  # type: ignore[arg-type]
    )


def names(suite: Suite) -> list[str]:
    return [target.name for target in expand_suite(suite, Registry())]


A, B = compiler("a", flags=("-a",), timeout=5.0), compiler("b")
X, Y = runtime("x", timeout=7.0), runtime("y")


@pytest.mark.parametrize(
    ("most", "found"), [(5, "10 targets of 2 modules"), (4, "up to 5 targets for each module"), (10, "")]
)
def test_more_targets_than_the_limit_are_an_error_of_the_suite(
    monkeypatch: pytest.MonkeyPatch, most: int, found: str
) -> None:
    suite = suite_of([target_config("one", [A], [X]), target_config("two", [B], [X, Y])], modules=("n", "m"))
    monkeypatch.setattr(expansion, "MAX_TARGETS", most)
    if not found:
        assert len(names(suite)) == most
        return
    with pytest.raises(DiagnosticsError) as raised:
        expand_suite(suite, Registry())
    assert [(diagnostic.key_path, diagnostic.message) for diagnostic in raised.value.diagnostics] == [
        (
            "module_test_suite[0].targets",
            f"found {found}, expected at most {most} in a suite: name fewer modules in srcs, or fewer configs in "
            "targets",
        )
    ]


def test_a_run_target_reached_twice_is_one_target_with_the_words_of_both_ways() -> None:
    suite = suite_of([target_config("one", [A], [X], ["red"]), target_config("two", [A], [X, Y], ["blue"])])
    targets = {target.name: target for target in expand_suite(suite, Registry())}
    assert list(targets) == ["m_a", "m_a_x", "m_a_y"]
    assert {"one", "two", "red", "blue"} <= set(targets["m_a_x"].tags)
    assert {"red", "one"}.isdisjoint(targets["m_a_y"].tags)
    assert {"red", "blue"} <= set(targets["m_a"].tags)


def test_flags_come_from_the_config_then_the_suite_then_the_module() -> None:
    overrides = (
        ModuleOverride(match=("m",), flags=("-m1",)),
        ModuleOverride(match=("x", "m*"), flags=("-m2",)),
        ModuleOverride(match=("n",), flags=("-n",)),
    )
    suite = suite_of([target_config("one", [A], [])], compiler_flags=("-s",), overrides=overrides)
    (target,) = expand_suite(suite, Registry())
    assert isinstance(target, CompileTarget)
    assert target.flags == ("-a", "-s", "-m1", "-m2")


def test_the_timeout_of_the_suite_wins_over_those_of_the_configs() -> None:
    configs = [target_config("one", [A], [X])]
    assert [target.timeout for target in expand_suite(suite_of(configs), Registry())] == [5.0, 7.0]
    assert [target.timeout for target in expand_suite(suite_of(configs, timeout=2.0), Registry())] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        (("one",), ["m_b", "m_b_y"]),
        (("a",), ["m_b", "m_b_y"]),
        (("x",), ["m_a", "m_b", "m_b_y"]),
        (("y",), ["m_a", "m_a_x", "m_b"]),
        (("?",), []),
        (("one", "y"), ["m_b"]),
    ],
)
def test_an_override_takes_a_module_out_of_configs(exclude: tuple[str, ...], left: list[str]) -> None:
    configs = [target_config("one", [A], [X]), target_config("two", [B], [Y])]
    overrides = (ModuleOverride(match=("m",), exclude_targets=exclude, reason="why"),)
    suite = suite_of(configs, modules=("m", "n"), overrides=overrides)
    assert names(suite) == [*left, "n_a", "n_a_x", "n_b", "n_b_y"]


def test_globs_over_modules_also_match_slashes() -> None:
    overrides = (ModuleOverride(match=("deep*",), tags=("odd",)),)
    suite = suite_of([target_config("one", [A], [])], modules=("deep/er/m", "m"), overrides=overrides)
    assert ["odd" in target.tags for target in expand_suite(suite, Registry())] == [True, False]
    assert names(suite)[0] == "deep/er/m_a"


def test_the_override_that_excludes_is_found() -> None:
    overrides = (
        ModuleOverride(match=("m",), tags=("odd",)),
        ModuleOverride(match=("m",), exclude_targets=("x*",), reason="why"),
    )
    suite = suite_of([target_config("one", [A], [X])], overrides=overrides)
    assert excluding_override(suite, "m", ["one", "a", "x"]) == 1
    assert excluding_override(suite, "m", ["one", "a"]) is None
    assert excluding_override(suite, "n", ["x"]) is None


def test_a_compiler_runs_a_module_where_no_override_takes_all_of_its_runtimes() -> None:
    overrides = (ModuleOverride(match=("n",), exclude_targets=("one", "x"), reason="why"),)
    configs = [target_config("one", [A], [X]), target_config("two", [B], [X]), target_config("none", [A, B], [])]
    suite = suite_of([*configs, target_config("three", [B, A], [X])], overrides=overrides, modules=["m", "n"])
    assert running_compilers(suite) == {"m": ("a", "b"), "n": ()}


class BadTags:
    """A compiler whose tags cannot be used."""

    name = "iree"
    artifact_suffix = ".x"

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        return ["a b"]


def test_a_compiler_that_derives_a_bad_word_is_named() -> None:
    registry = Registry(compilers={"iree": BadTags()}, origins={("compiler", "iree"): "ext"})  # type: ignore[dict-item]
    with pytest.raises(RetargetError) as caught:
        expand_suite(suite_of([target_config("one", [A], [])]), registry)
    assert str(caught.value) == (
        "extension 'ext': compiler 'iree': tags of config 'a': found 'a b', expected a word for -m: letters, digits "
        "and any of _ : + - . [ ] / \\"
    )


def test_what_runs_by_a_tool_gets_the_module_with_its_checks_returned() -> None:
    inside, outside = runtime("inside"), runtime("outside", run_under=("env",))
    configs = [target_config("one", [A], [inside, outside]), target_config("two", [B], [outside])]
    targets = expand_suite(suite_of(configs), load_extensions())
    found = [(one.name, one.compile.name if isinstance(one, RunTarget) else one.returns_checks) for one in targets]
    assert found == [
        ("m_a", False),
        ("m_a_inside", "m_a"),
        ("m_a_outside", "m_a.returned"),
        ("m_b", True),  # all of its runs are by a tool: one compile is enough
        ("m_b_outside", "m_b"),
    ]
    assert [one.compile.item for one in targets if isinstance(one, RunTarget)] == ["m_a", "m_a", "m_b"]


def test_a_hundred_thousand_targets_share_what_they_have_in_common() -> None:
    configs = [
        target_config(
            "one", [compiler(f"c{n}", flags=(f"-{n}",)) for n in range(10)], [runtime(f"r{n}") for n in range(9)]
        )
    ]
    suite = suite_of(configs, modules=[f"m{n}" for n in range(1000)])
    targets = expand_suite(suite, Registry())
    assert len(targets) == 100_000
    assert len({id(target.tags) for target in targets}) == 100
    assert len({id(target.flags) for target in targets if isinstance(target, CompileTarget)}) == 10
