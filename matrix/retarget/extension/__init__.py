"""The extension API: what a compiler, a driver, a case loader or a subcommand implements, and the hooks for them.

An extension is a module (or object) named by an entry point of the group `retarget`. It implements one or more of the
hooks with `retarget.extension.hookimpl`. IREE and OpenCL reach the core this way and no other.

Extension modules are imported in every process, also in pytest's: they must import their compiler or runtime lazily,
inside the methods. Each method says in which process it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retarget.extension.cases import *
from retarget.extension.commands import *
from retarget.extension.compilers import *
from retarget.extension.drivers import *
from retarget.extension.hooks import *
from retarget.extension.suggestions import *
from retarget.extension.transfers import *
from retarget.support.dependencies import code_digest as code_digest
from retarget.support.dependencies import watched as watched

if TYPE_CHECKING:
    from retarget.model.calls import Array as Array
