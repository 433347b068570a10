"""The extension API: all that the author of a compiler, a driver, a kind of cases or a subcommand needs.

An extension is a module (or object) named by an entry point of the group `retarget`. It implements one or more of the
hooks with `retarget.extension.hookimpl`, which return objects of subclasses of `Compiler`, `Driver`, `CaseLoader` and
`Command`: a subclass overrides what there is to override. IREE and OpenCL reach the core this way and no other.

Extension modules are imported in every process, also in pytest's: they must import their compiler or runtime lazily,
inside the methods. Each method says in which process it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retarget.extension.cases import *
from retarget.extension.commands import *
from retarget.extension.compilers import *
from retarget.extension.drivers import *
from retarget.extension.hooks import hookimpl as hookimpl
from retarget.extension.products import ExtensionError as ExtensionError
from retarget.extension.products import overrides as overrides
from retarget.model import CompilerConfig as CompilerConfig
from retarget.model import CompileTarget as CompileTarget
from retarget.model import Host as Host
from retarget.model import Module as Module
from retarget.model import RunTarget as RunTarget
from retarget.model import RuntimeConfig as RuntimeConfig
from retarget.model import Suite as Suite
from retarget.model import Toolchain as Toolchain
from retarget.profiles.files import Profile as Profile
from retarget.support.dependencies import code_digest as code_digest
from retarget.support.dependencies import watched as watched
from retarget.support.errors import Diagnostic as Diagnostic
from retarget.support.errors import DiagnosticsError as DiagnosticsError
from retarget.support.errors import RetargetError as RetargetError

if TYPE_CHECKING:
    from retarget.extension.registry import load_extensions as load_extensions
    from retarget.model.calls import Array as Array


def __getattr__(name: str) -> Any:
    """Import what only few extensions need when it is asked for."""
    if name == "load_extensions":
        from retarget.extension import registry

        return registry.load_extensions
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
