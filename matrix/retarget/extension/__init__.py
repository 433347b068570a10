"""The extension API: all that the author of a compiler, a driver, a kind of cases or a subcommand needs.

An extension is a module (or object) named by an entry point of the group `retarget`. It implements one or more of the
hooks with `retarget.extension.hookimpl`, which return objects of subclasses of `Compiler`, `Driver`, `CaseLoader` and
`Command`: a subclass overrides what there is to override. IREE and OpenCL reach the core this way and no other.

Extension modules are imported in every process, also in pytest's: they must import their compiler or runtime lazily,
inside the methods. Each method says in which process it runs.
"""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
