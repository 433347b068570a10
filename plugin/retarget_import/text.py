"""The declarations as TOML, with the comments of the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retarget.support.toml.write import toml_table

from retarget_import.plan import Compiler, Plan, Runtime, TargetConfig
from retarget_import.read import CheckTest, Folder
from retarget_import.suites import SuiteText

__all__ = ["matrix_text", "suite_text"]


def matrix_text(plan: Plan, sources: Sequence[str]) -> str:
    """Return the text of `matrix.toml`. `sources` are the BUILD files."""
    named = ", ".join(sources[:4]) + (f" and {len(sources) - 4} more" if len(sources) > 4 else "")
    tables = [f"# Imported from {named} by `retarget import-bazel`.\n"]
    tables += map(_compiler, plan.compilers)
    tables += map(_runtime, plan.runtimes)
    tables += map(_target, plan.targets)
    return "\n".join(tables)


def suite_text(suites: Sequence[SuiteText], source: str) -> str:
    """Return the text of a `suite.toml`."""
    tables = [f"# Imported from {source} by `retarget import-bazel`."]
    tables += [_comment(suites[0].comment), ""]
    for suite in suites:
        tables.append(
            _comment(suite.above)
            + _table(
                "module_test_suite",
                name=suite.name,
                srcs=suite.srcs,
                exclude=suite.exclude or None,
                kind=suite.kind,
                targets=suite.targets,
                compiler_flags=suite.flags or None,
                tags=suite.tags or None,
                timeout=suite.timeout,
            )
        )
        for one in suite.overrides:
            tables.append(
                _table(
                    "module_test_suite.module",
                    match=one.modules[0] if len(one.modules) == 1 else one.modules,
                    exclude_targets=one.exclude_targets or None,
                    tags=one.tags or None,
                    flags=one.flags or None,
                    reason=one.reason or None,
                )
            )
    return "\n".join(one for one in tables if one is not None).replace("\n\n\n", "\n\n")


def _compiler(compiler: Compiler) -> str:
    above = _comments_on(compiler.own_flags, compiler.uses)
    parent = compiler.parent
    name = "iree-opt" if compiler.backend == "iree-opt" else "iree"
    own = compiler.own_flags
    return above + _table(
        "compiler_config",
        name=compiler.name,
        extends=parent.name if parent is not None else None,
        compiler=None if parent is not None else name,
        flags=own or None,
    )


def _runtime(runtime: Runtime) -> str:
    above = _comments_on((*runtime.flags, *sorted(runtime.tags)), runtime.uses)
    requires_gpu = any(tag.startswith("requires-gpu") for tag in runtime.tags) and runtime.driver == "vulkan"
    return above + _table(
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
    above = _comment(comments if len(comments) <= 2 else ()) + _comments_on(sorted(target.tags), target.uses)
    return above + _table(
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
    return _comment([one for one in found if one])


def _comment(texts: Iterable[str]) -> str:
    return "".join(f"# {line}\n" for text in texts for line in text.splitlines())


def _table(header: str, **keys: str | Sequence[str] | float | None) -> str:
    return f"{toml_table(header, **keys)}\n"
