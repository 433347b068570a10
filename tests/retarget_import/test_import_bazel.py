"""BUILD.bazel files become declarations that say the same, and that a person would write."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_files import CHECK, FIRST, import_here, names, suite_text, targets, write
from declaration_texts import runtime
from retarget.cli import main
from retarget.model import RunTarget


def test_one_call_becomes_one_config_of_each_sort_and_a_suite(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd, FIRST, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert capsys.readouterr().out == (
        "matrix.toml: written\nsuite.toml: written\n"
        "2 tests became 1 compiler config, 1 runtime config, 1 target config and 1 module test suite\n"
    )
    assert Path("matrix.toml").read_text() == (
        "# Imported from BUILD.bazel by `retarget import-bazel`.\n\n"
        '[[compiler_config]]\nname = "llvm-cpu"\ncompiler = "iree"\n'
        'flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]\n\n'
        + runtime("local-task", "local-task").strip()
        + '\n\n[[target_config]]\nname = "llvm-cpu"\ncompiler = "llvm-cpu"\nruntimes = ["local-task"]\n'
    )
    assert suite_text().endswith('srcs = ["*.mlir"]\nkind = "check"\ntargets = ["llvm-cpu"]\n')
    assert main(["check", "."]) == 0


@pytest.mark.parametrize(
    "sources",
    [
        'glob(["*.mlir"])',
        'glob(["*.mlir"], exclude = ["skipped.mlir"]) + ["skipped.mlir"]',
        'enforce_glob(["a.mlir", "skipped.mlir", "z.mlir"], include = ["*.mlir"])',
        'FIRST + ["z.mlir"]',
        '[name for name in FIRST + ["other.mlir", "z.mlir"] if name not in ["other.mlir"]]',
        '["%s.mlir" % name for name in ["a", "skipped", "z"]]',
        'select({"//build:arm": ["a.mlir"], "//conditions:default": FIRST + [":z.mlir"]})',
        '["//somewhere/ops:a.mlir", "//somewhere/ops:skipped.mlir", ":z.mlir"]',
    ],
)
def test_sources_are_evaluated(cwd: Path, sources: str) -> None:
    (cwd / "MODULE.bazel").touch()
    package = cwd / "somewhere" / "ops"
    call = FIRST.replace('["a.mlir", "b.mlir"]', sources)
    write(package, f'\nFIRST = ["a.mlir", "skipped.mlir"]\n{call}', "a.mlir", "skipped.mlir", "z.mlir")
    assert main(["import-bazel", "somewhere", "-o", "."]) == 0
    assert names(cwd) == [f"{name}_llvm-cpu_local-task" for name in ("a", "skipped", "z")]


def test_a_label_of_the_top_package_is_a_file_beside_the_build_file(cwd: Path) -> None:
    (cwd / "MODULE.bazel").touch()
    write(cwd, FIRST.replace("a.mlir", "//:a.mlir"), "a.mlir", "b.mlir")
    assert import_here() == 0
    assert names(cwd) == ["a_llvm-cpu_local-task", "b_llvm-cpu_local-task"]


def test_a_glob_does_not_enter_another_package(cwd: Path) -> None:
    call = FIRST.replace('["a.mlir", "b.mlir"]', 'glob(["**/*.mlir"])')
    write(cwd, call, "a.mlir", "deep/b.mlir")
    write(cwd / "own", FIRST.replace("b.mlir", "c.mlir"), "a.mlir", "c.mlir")
    assert import_here() == 0
    assert names(cwd) == [f"{name}_llvm-cpu_local-task" for name in ("a", "a", "c", "deep/b")]


def test_a_bzl_file_that_two_others_load_is_evaluated_for_both(cwd: Path) -> None:
    (cwd / "MODULE.bazel").touch()
    (cwd / "own.bzl").write_text(
        f'load("{CHECK}", "iree_check_test_suite")\n'
        "def own(name, **kwargs):\n"
        '    iree_check_test_suite(name = name, target_backends_and_drivers = [("vmvx", "local-sync")], **kwargs)\n'
    )
    for name in ("one", "two"):
        (cwd / f"{name}.bzl").write_text(
            'load("//:own.bzl", "own")\n'
            f'load("{CHECK}", "iree_check_test_suite")\n'
            f"def {name}(**kwargs):\n    own(**kwargs)\n"
        )
    text = """
load("//:one.bzl", "one")
load("//:two.bzl", "two")
one(name = "check_a", srcs = ["a.mlir"])
two(name = "check_b", srcs = ["b.mlir"])
"""
    write(cwd, text, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert names(cwd) == ["a_vmvx_local-sync", "b_vmvx_local-sync"]


def test_the_default_pairs(cwd: Path) -> None:
    write(cwd, '\niree_check_test_suite(name = "check", srcs = ["a.mlir"])\n', "a.mlir")
    assert import_here() == 0
    assert names(cwd) == ["a_llvm-cpu_local-task", "a_vmvx_local-task", "a_vulkan-spirv_vulkan"]


def test_variants_of_cpu_features(cwd: Path) -> None:
    text = """
iree_check_test_suite(
    name = "check",
    srcs = ["a.mlir"],
    target_backends_and_drivers = [("llvm-cpu", "local-task")],
    target_cpu_features_variants = ["default", "generic", "x86_64:avx2:+avx,+avx2", "arm_64:dotprod:+dotprod"],
)
"""
    write(cwd, text, "a.mlir")
    assert import_here() == 0
    found = {t.name: (t.compile.flags[2:], t.runtime.host_arch) for t in targets(cwd) if isinstance(t, RunTarget)}
    feature = "--iree-llvmcpu-target-cpu-features="
    assert sorted(found.values()) == [
        ((), ()),
        ((f"{feature}+avx,+avx2",), ("x86_64",)),
        ((f"{feature}+dotprod",), ("arm64",)),
        (("--iree-llvmcpu-target-cpu=generic",), ()),
    ]


def test_common_flags_are_of_the_suite_others_extend(cwd: Path) -> None:
    text = """
SOURCES = ["a.mlir", "b.mlir"]
KEEP = ["--iree-llvmcpu-target-cpu=generic"]
iree_check_single_backend_test_suite(
    name = "check_llvm-cpu", srcs = SOURCES, driver = "local-task", target_backend = "llvm-cpu",
    compiler_flags = KEEP, input_type = "tosa",
)
iree_check_single_backend_test_suite(
    name = "check_llvm-cpu_tiled", srcs = SOURCES, driver = "local-task", target_backend = "llvm-cpu",
    compiler_flags = KEEP + [
        "--iree-opt-data-tiling",
        "--iree-stream-partitioning-favor=min\\\\(x\\\\)",
    ],
    input_type = "tosa",
)
iree_check_single_backend_test_suite(
    name = "check_vmvx", srcs = SOURCES, driver = "local-task", target_backend = "vmvx",
    compiler_flags = ["--iree-input-type=tosa"],
)
"""
    write(cwd, text, "a.mlir", "b.mlir")
    assert import_here() == 0
    matrix = Path("matrix.toml").read_text()
    assert 'compiler_flags = ["--iree-input-type=tosa"]' in suite_text()
    assert (
        '[[compiler_config]]\nname = "llvm-cpu-tiled"\nextends = "llvm-cpu"\n'
        'flags = ["--iree-opt-data-tiling", "--iree-stream-partitioning-favor=min(x)"]\n' in matrix
    )
    assert matrix.count("--iree-llvmcpu-target-cpu=generic") == 1


def test_a_module_with_two_types_of_input_has_two_compiler_configs(cwd: Path) -> None:
    call = FIRST.replace('"b.mlir"],', '"b.mlir", "c.mlir"],\n    input_type = "stablehlo",')
    other = FIRST.replace('["a.mlir", "b.mlir"]', '["a.mlir"]').replace('"check_', '"plain_')
    write(cwd, call + other, "a.mlir", "b.mlir", "c.mlir")
    assert import_here() == 0
    assert 'extends = "llvm-cpu"\nflags = ["--iree-input-type=stablehlo"]' in Path("matrix.toml").read_text()


def test_types_of_input_of_different_modules_are_overrides(cwd: Path) -> None:
    one = FIRST.replace('["a.mlir", "b.mlir"],', '["a.mlir"],\n    input_type = "tosa",')
    other = FIRST.replace('["a.mlir", "b.mlir"]', '["b.mlir"]').replace('"check_', '"plain_')
    write(cwd, one + other, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert suite_text().endswith('[[module_test_suite.module]]\nmatch = "a"\nflags = ["--iree-input-type=tosa"]\n')


def test_flags_of_the_runner_become_runtime_configs(cwd: Path) -> None:
    call = FIRST.replace("llvm-cpu", "cuda").replace("local-task", "cuda")
    graph = call.replace("check_cuda_cuda", "check_cuda_graph").replace(
        '    driver = "cuda"', '    driver = "cuda",\n    runner_args = ["--cuda_use_streams=false"]'
    )
    write(cwd, call + graph, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert runtime("cuda-graph", "cuda", flags=["--cuda_use_streams=false"]) in Path("matrix.toml").read_text()


def test_tags_are_kept_of_suite_and_target(cwd: Path) -> None:
    text = """
iree_check_single_backend_test_suite(
    name = "check_llvm-cpu", srcs = ["a.mlir", "b.mlir"], driver = "local-task", target_backend = "llvm-cpu",
    tags = ["nowasm", "everywhere", "driver=local-task", "two words"],
)
iree_check_single_backend_test_suite(
    name = "check_index", srcs = ["index.mlir"], driver = "local-task", target_backend = "llvm-cpu",
    tags = ["noriscv", "everywhere"],
)
iree_check_single_backend_test_suite(
    name = "check_vmvx", srcs = ["a.mlir", "b.mlir"], driver = "local-task", target_backend = "vmvx",
    tags = ["everywhere"],
)
iree_check_single_backend_test_suite(
    name = "check_vulkan", srcs = ["a.mlir"], driver = "vulkan", target_backend = "vulkan-spirv",
    tags = ["requires-gpu-nvidia", "everywhere"],
)
"""
    write(cwd, text, "a.mlir", "b.mlir", "index.mlir")
    assert import_here() == 0
    tagged = {t.name: set(t.tags) for t in targets(cwd) if isinstance(t, RunTarget)}
    words = {"nowasm", "noriscv", "everywhere", "requires-gpu-nvidia"}
    assert {name: sorted(tags & words) for name, tags in tagged.items()} == {
        "a_llvm-cpu_local-task": ["everywhere", "nowasm"],
        "b_llvm-cpu_local-task": ["everywhere", "nowasm"],
        "index_llvm-cpu_local-task": ["everywhere", "noriscv"],
        "a_vmvx_local-task": ["everywhere"],
        "b_vmvx_local-task": ["everywhere"],
        "a_vulkan-spirv_vulkan": ["everywhere", "requires-gpu-nvidia"],
    }
    assert 'driver = "vulkan"\ndevice_type = "gpu"\n' in Path("matrix.toml").read_text()


@pytest.mark.parametrize(
    ("key", "word", "seconds"),
    [
        ("timeout", "short", 60),
        ("timeout", "moderate", 300),
        ("timeout", "long", 900),
        ("timeout", "eternal", 3600),
        ("size", "small", 60),
        ("size", "medium", 300),
        ("size", "large", 900),
        ("size", "enormous", 3600),
    ],
)
def test_words_for_times_are_those_of_bazel(cwd: Path, key: str, word: str, seconds: int) -> None:
    write(cwd, FIRST.replace("    driver", f'    {key} = "{word}",\n    driver'), "a.mlir", "b.mlir")
    assert import_here() == 0
    assert f"timeout = {seconds}\n" in suite_text()


def test_timeouts_are_seconds_of_the_suite(cwd: Path) -> None:
    one = FIRST.replace("    driver", '    timeout = "long",\n    driver')
    other = FIRST.replace("llvm-cpu", "vmvx").replace("    driver", '    size = "medium",\n    driver')
    write(cwd, one + other, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert "timeout = 900\n" in suite_text()


def test_without_better_words_the_folder_gives_the_names(cwd: Path) -> None:
    flags = '    compiler_flags = ["--iree-vmvx-a-flag=+x,+y,+z,+0123456789abcdef", "--iree-other=(a,b)"],\n    driver'
    write(cwd / "deep" / "test", FIRST.replace("llvm-cpu", "vmvx"), "a.mlir", "b.mlir")
    other = FIRST.replace("llvm-cpu", "vmvx").replace("    driver", flags)
    write(cwd / "tiling", other, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert 'name = "vmvx-tiling"\nextends = "vmvx"\n' in Path("matrix.toml").read_text()
    assert 'name = "deep"\n' in Path("deep/test/suite.toml").read_text()


def test_a_target_config_has_the_name_of_its_compiler_where_no_other_one_has_it(cwd: Path) -> None:
    tagged = FIRST.replace('["a.mlir", "b.mlir"]', '["a.mlir"]').replace(
        "    driver", '    tags = ["slow"],\n    driver'
    )
    write(cwd / "first", tagged + FIRST.replace("llvm-cpu", "vmvx"), "a.mlir", "b.mlir")
    write(cwd / "second", FIRST, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert 'targets = ["llvm-cpu-slow", "vmvx"]' in Path("first/suite.toml").read_text()
    assert 'targets = ["llvm-cpu-local-task"]' in Path("second/suite.toml").read_text()


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (["--iree-opt-level=O3"], "vmvx-O3"),
        (["--iree-vulkan-target-triple=valhall-unknown-android31"], "vmvx-valhall-unknown-android31"),
        (["--iree-stream-resource-alias-mutable-bindings-everywhere=true"], "vmvx-aliased"),
    ],
)
def test_a_config_has_the_name_of_its_flag_or_of_its_call(cwd: Path, flags: list[str], name: str) -> None:
    base = FIRST.replace("llvm-cpu", "vmvx")
    more = f"    compiler_flags = {flags},\n    driver".replace("'", '"')
    write(cwd, base + base.replace("check_vmvx", "check_vmvx_aliased").replace("    driver", more), "a.mlir", "b.mlir")
    assert import_here() == 0
    assert f'name = "{name}"\nextends = "vmvx"\n' in Path("matrix.toml").read_text()


def test_what_cannot_be_taken_over_is_named(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
load("//build_tools/bazel:iree_genrule.bzl", "iree_genrule")
iree_genrule(name = "generate", outs = ["made.mlir"])
cc_test(name = "native", srcs = ["native.cc"])
iree_check_single_backend_test_suite(
    name = "check_all",
    srcs = ["a.mlir", "made.mlir", "//other/folder:b.mlir", "../c.mlir"],
    driver = "webgpu",
    target_backend = "webgpu-spirv",
    data = ["weights.irpa"],
)
iree_check_test(
    name = "flagged",
    src = "a.mlir",
    target_backend = "vmvx",
    compiler_flags = ["--iree-flow-spec=$(location :spec.mlir)"],
)
iree_check_test(name = "compiled", src = "a.mlir", target_backend = "vmvx", tags = select({
    "//build:arm": ["slow"],
    "//conditions:default": [],
}))
iree_check_test_suite("by_position", ["a.mlir"], [("vmvx", "local-task")])
"""
    write(cwd, text, "a.mlir")
    assert import_here() == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith(("left", "verified"))] == [
        "left out: BUILD.bazel:26: //build:arm of a select; //conditions:default is taken over",
        "left out: BUILD.bazel:13: the arguments data of check_all: they are not taken over",
        "left out: BUILD.bazel:13: made.mlir of check_all: there is no such file; a rule may generate it",
        "left out: BUILD.bazel:13: //other/folder:b.mlir of check_all: it is a file of another package",
        "left out: BUILD.bazel:13: ../c.mlir of check_all: it is a file of another package",
        "left out: BUILD.bazel:13: the runs on webgpu of check_all: no extension here has this driver; they are "
        "compiled",
        "left out: BUILD.bazel:20: all of flagged: its flags have $(location :spec.mlir), which Bazel replaces",
        "left out: BUILD.bazel:30: the arguments at position 3 of by_position: they are not taken over",
        "left out: 1 call of cc_test",
        "left out: 1 call of iree_genrule",
    ]
    assert main(["check", "."]) == 0
