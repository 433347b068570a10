"""The case loader `check`: modules that check themselves with IREE's check dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from retarget.extension import Case, CaseLoader, CaseRequest, ModulesRequest, SuggestedSuite, Suggestions

from retarget_iree.toolchain import command

_LARGEST_TEXT = 64 << 20
"""Bytes of a module that are looked into."""
_CHECK = re.compile(rb"\bcheck\.expect_\w+")
_COMMENT = re.compile(rb"//[^\n]*")


class CheckCaseLoader(CaseLoader):
    """Every exported function without arguments is one case, in the module's order.

    Functions that take arguments, or that do not say, are not run. A module with no other kind gives no case, which is
    reported as a failure. A case without a check fails too: it could not have failed otherwise.
    """

    kind = "check"
    precedence = 30

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return one case per function without arguments; empty where there is none."""
        return [
            Case(name=function.name, function=function.name, must_check=True)
            for function in request.functions
            if function.arguments == 0
        ]

    def return_checks_version(self) -> str:
        """Name the rewriting by its code."""
        return sha256(Path(__file__).with_name("rewrite.py").read_bytes()).hexdigest()

    def return_checks(self, source: bytes, name: str) -> bytes:
        """Return the module with checks as results; see `rewrite.return_checks`."""
        from retarget_iree.checks.rewrite import return_checks  # it imports the compiler

        return return_checks(source, name)

    def return_checks_command(self, source: Path, output: Path) -> Sequence[str]:
        """Return the command that writes it to a file."""
        return (command("python"), "-m", "retarget_iree.checks", str(source), "-o", str(output))

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return one suite of all modules that make checks of their own."""
        files = []
        left_out = []
        for path in request.files:
            if path.suffix == ".mlirbc":
                reason = "is MLIR bytecode, whose functions cannot be seen without the compiler"
                left_out.append((path, f"{reason}; add it to a suite by hand"))
            elif path.suffix == ".mlir":
                with path.open("rb") as stream:
                    content = stream.read(_LARGEST_TEXT)
                if _CHECK.search(_COMMENT.sub(b"", content)):
                    files.append(path)
        comment = (
            "Modules that check themselves: every function without arguments is run,",
            "and all of its check.expect_… operations must hold.",
        )
        suites = (SuggestedSuite(files=tuple(files), comment=comment),) if files else ()
        return Suggestions(suites=suites, left_out=tuple(left_out))
