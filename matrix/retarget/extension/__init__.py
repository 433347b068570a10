"""The extension API: what a compiler, a driver, a case loader or a subcommand implements, and the hooks for them.

An extension is a module (or object) named by an entry point of the group `retarget`. It implements one or more of the
hooks with `retarget.extension.hookimpl`. IREE and OpenCL reach the core this way and no other.

Extension modules are imported in every process, also in pytest's: they must import their compiler or runtime lazily,
inside the methods. Each method says in which process it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retarget.extension.cases import (
    ArtifactRequest,
    Case,
    CaseData,
    CaseLoader,
    CaseRequest,
    CheckedCase,
    ChecksArtifacts,
    ChecksData,
    ChecksSuites,
    ComparesConfigs,
    DescribesFiles,
    FindsModules,
    HasParameters,
    MakesModules,
    RunsCasesOutside,
    Tolerance,
)
from retarget.extension.commands import Command, CommandModule
from retarget.extension.compilers import (
    Compiled,
    Compiler,
    CompileRequest,
    CompilerError,
    DescribesBuild,
    Resolved,
    ShowsArtifacts,
    UnavailableError,
)
from retarget.extension.drivers import (
    Check,
    CheckSink,
    Device,
    Driver,
    DriverError,
    FunctionInfo,
    LoadsArtifacts,
    LoadsParameters,
    Program,
    RunPlan,
)
from retarget.extension.hooks import (
    ENTRY_POINT_GROUP,
    PROJECT,
    HookSpecs,
    hookimpl,
    hookspec,
)
from retarget.extension.suggestions import (
    ModulesRequest,
    SuggestedSuite,
    SuggestedTarget,
    Suggestions,
    SuggestsSuites,
    SuggestsTargets,
)

if TYPE_CHECKING:
    from retarget.extension.drivers import Array as Array

__all__ = [
    "ENTRY_POINT_GROUP",
    "PROJECT",
    "ArtifactRequest",
    "Case",
    "CaseData",
    "CaseLoader",
    "CaseRequest",
    "Check",
    "CheckSink",
    "CheckedCase",
    "ChecksArtifacts",
    "ChecksData",
    "ChecksSuites",
    "Command",
    "CommandModule",
    "ComparesConfigs",
    "CompileRequest",
    "Compiled",
    "Compiler",
    "CompilerError",
    "DescribesBuild",
    "DescribesFiles",
    "Device",
    "Driver",
    "DriverError",
    "FindsModules",
    "FunctionInfo",
    "HasParameters",
    "HookSpecs",
    "LoadsArtifacts",
    "LoadsParameters",
    "MakesModules",
    "ModulesRequest",
    "Program",
    "Resolved",
    "RunPlan",
    "RunsCasesOutside",
    "ShowsArtifacts",
    "SuggestedSuite",
    "SuggestedTarget",
    "Suggestions",
    "SuggestsSuites",
    "SuggestsTargets",
    "Tolerance",
    "UnavailableError",
    "hookimpl",
    "hookspec",
]
