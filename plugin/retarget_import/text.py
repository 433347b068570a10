"""The declarations as TOML, with the comments of the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retarget.support.toml.write import toml_table

from retarget_import.plan import Compiler, Plan, Runtime, TargetConfig
from retarget_import.read import CheckTest, Folder

__all__ = ["matrix_text", "suite_text", "toml_comment"]


def matrix_text(plan: Plan, sources: Sequence[str]) -> str:
    """Return the text of `matrix.toml`. `sources` are the BUILD files."""
    named = ", ".join(sources[:4]) + (f" and {len(sources) - 4} more" if len(sources) > 4 else "")
    tables = [*map(_compiler, plan.compilers), *map(_runtime, plan.runtimes), *map(_target, plan.targets)]
    return "\n\n".join([f"# Imported from {named} by `retarget import-bazel`.", *tables]) + "\n"


def suite_text(folder: Folder, suites: Sequence[str]) -> str:
    """Return the text of a folder's `suite.toml`. `suites` are its tables."""
    head = [f"Imported from {folder.build.path.name} by `retarget import-bazel`.", *folder.comments.of_file()]
    return toml_comment(head) + "\n" + "\n\n".join(suites) + "\n"


def toml_comment(texts: Iterable[str]) -> str:
    """Return a comment of these texts, with the end of its last line; empty where there are none."""
    return "".join(f"# {line}\n" for text in texts for line in text.splitlines())


def _compiler(compiler: Compiler) -> str:
    above = _comments_on(compiler.own_flags, compiler.uses)
    parent = compiler.parent
    name = "iree-opt" if compiler.backend == "iree-opt" else "iree"
    own = compiler.own_flags
    return above + toml_table(
        "compiler_config",
        name=compiler.name,
        extends=parent.name if parent is not None else None,
        compiler=None if parent is not None else name,
        flags=own or None,
    )


def _runtime(runtime: Runtime) -> str:
    above = _comments_on((*runtime.flags, *sorted(runtime.tags)), runtime.uses)
    requires_gpu = any(tag.startswith("requires-gpu") for tag in runtime.tags) and runtime.driver == "vulkan"
    return above + toml_table(
        "runtime_config",
        name=runtime.name,
        driver=runtime.driver,
        flags=runtime.flags or None,
        host_arch=runtime.arch or None,
        device_type="gpu" if requires_gpu else None,
        tags=sorted(runtime.tags) or None,
    )


def _target(target: TargetConfig) -> str:
    calls = dict.fromkeys(folder.comments.above(line) for folder, test in target.uses for _, line in test.calls)
    comments = [one for one in calls if one]
    above = toml_comment(comments if len(comments) <= 2 else ()) + _comments_on(sorted(target.tags), target.uses)
    return above + toml_table(
        "target_config",
        name=target.name,
        compiler=target.compiler.name,
        runtimes=[runtime.name for runtime in target.runtimes],
        tags=sorted(target.tags) or None,
    )


def _comments_on(flags: Iterable[str], uses: Sequence[tuple[Folder, CheckTest]]) -> str:
    found: dict[str, None] = {}
    for flag in flags:
        for folder, test in uses:
            found |= dict.fromkeys(folder.comments.on(flag, line) for _, line in test.calls)
    return toml_comment([one for one in found if one])
