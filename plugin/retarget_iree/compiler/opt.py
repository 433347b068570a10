"""The compiler `iree-opt`: passes of IREE over a module, whose output FileCheck judges (kind `filecheck`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.extension import Compiled, Compiler, CompileRequest, CompilerError, Resolved, UnavailableError
from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig, Toolchain

from retarget_iree.builds import CompilerBuild, build_hint
from retarget_iree.compiler.flags import not_inputs
from retarget_iree.compiler.tool import compile_with_tool, tool_diagnostics
from retarget_iree.toolchain import command, compiler_environment, find_compiler


class IreeOptCompiler(Compiler):
    """Runs the passes that the flags name over `.mlir` and prints the result, as the tool `iree-opt` does."""

    name = "iree-opt"
    artifact_suffix = ".mlir"

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name the compiler as `iree` does, with the tool that runs: a build folder may have built it alone."""
        return _build(config.toolchain).fingerprint()

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        """Return the variable that selects a toolchain."""
        return compiler_environment(config.toolchain)

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:  # noqa: ARG002  the base class's
        """Check the flags. Raises `UnavailableError` without the tool, `CompilerError` with its message."""
        build = _build()
        if diagnostics := tool_diagnostics(build, flags):
            raise CompilerError("; ".join(diagnostics), diagnostics="\n".join(diagnostics), verdict=True)
        return Resolved(build_id=build.build_id(), flags=flags, not_inputs=not_inputs(flags), build=build.describe())

    def compile(self, request: CompileRequest) -> Compiled:
        """Run the passes. Raises `CompilerError` whose summary is the tool's first error."""
        return compile_with_tool(_build(), request.source, request)

    def tags(self, config: CompilerConfig) -> Sequence[str]:  # noqa: ARG002  the base class's
        """Return the name: passes are of no backend."""
        return (self.name,)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """Return the command."""
        tool = command(self.name, target.compiler.toolchain)
        return (tool, str(target.module.path), *flags, "-o", str(output))


def _build(toolchain: Toolchain | None = None) -> CompilerBuild:
    """Return the compiler of a toolchain, or of this process, with `iree-opt` as its tool.

    It lies beside the library or `iree-compile`. Raises `UnavailableError`.
    """
    build = find_compiler(toolchain)
    beside = [path.with_name("iree-opt") for path in (build.tool, build.library) if path is not None]
    tool = next((path for path in beside if path.is_file()), None)
    if tool is None:
        msg = f"{build.folder} has no iree-opt, expected it beside {' or '.join(str(path.parent) for path in beside)}"
        raise UnavailableError(msg, hint=build_hint("compiler"))
    return replace(build, tool=tool)
