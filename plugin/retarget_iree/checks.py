"""The case loader `check`: modules that check themselves with IREE's check dialect."""

from __future__ import annotations

from collections.abc import Sequence

from retarget.extension import Case, CaseRequest, ModulesRequest, Suggestions

__all__ = ["CheckCaseLoader"]


class CheckCaseLoader:
    """Every exported function without arguments is one case, in the module's order.

    Functions that take arguments, or that do not say, are not run. A module with no other kind gives no case, which is
    reported as a failure. A case that makes no check fails too: it could not have failed otherwise.
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

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return one suite of the modules that make checks."""
        from retarget_iree.suggest import check_suites

        return check_suites(request)
