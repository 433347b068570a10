"""Where a target goes: to which runner, and whether that runner compiles it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retarget.extension import overrides
from retarget.model import CompileTarget, RunTarget
from retarget.targets.collected import Declared, DeclaredTarget

from retarget_ci.model import CiConfig, Runner
from retarget_ci.planning.assign import Assigner, Refused

__all__ = ["Place", "Placement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A target's runner. With `alone` its leg takes no artifacts and compiles what it runs. `needs` are the ids of the
    compile targets whose artifacts it takes otherwise."""

    runner: Runner
    alone: bool = False
    needs: tuple[str, ...] = ()


class Placement:
    """Places targets: the same for the same declarations, whatever an event selects."""

    def __init__(self, config: CiConfig, declared: Declared) -> None:
        """Raises `RetargetError` for a profile of a runner that cannot be read."""
        self._assigner = Assigner(config.runners)
        self._comparing = {
            kind: loader for kind, loader in declared.registry.case_loaders.items() if overrides(loader, "references")
        }
        self._of_module: dict[tuple[str, str], list[DeclaredTarget]] = {}
        for one in declared.targets:
            if isinstance(one.target, RunTarget) and one.target.compile.kind in self._comparing:
                self._of_module.setdefault((one.home, one.compiled.module.name), []).append(one)

    def of(self, one: DeclaredTarget) -> Place | Refused:
        """Return where a target goes, or why it goes nowhere.

        A compile target goes where it is compiled for others; a run target that compiles alone takes it along. Raises
        `RetargetError` for invalid case files.
        """
        target = one.target
        if isinstance(target, CompileTarget):
            runner = self._assigner.build(target)
            return runner if isinstance(runner, Refused) else Place(runner=runner)
        groups = [*self._references(one, target)]
        compiled = [target.compile, *(other.compiled for group in groups for other in group)]
        alone = not self._assigner.builds or any(map(self._stays, compiled))
        references = tuple(tuple(_run(group)) for group in groups)
        runner = self._assigner.run(target, compiles=alone, references=references)
        if isinstance(runner, Refused):
            return runner
        if alone:
            return Place(runner=runner, alone=True)
        needed = [one, *(next(other for other in group if self._takes(runner, other)) for group in groups)]
        for other in needed:
            builder = self._assigner.build(other.compiled)
            if isinstance(builder, Refused):
                return builder
        return Place(runner=runner, needs=tuple(dict.fromkeys(other.compile_id for other in needed)))

    def _stays(self, target: CompileTarget) -> bool:
        """Whether an artifact does not travel: it is bound to its machine, or no item of pytest's exports it."""
        return target.name != target.item or self._assigner.is_bound(target)

    def _takes(self, runner: Runner, other: DeclaredTarget) -> bool:
        return isinstance(other.target, RunTarget) and self._assigner.takes(runner, other.target)

    def _references(self, one: DeclaredTarget, target: RunTarget) -> Iterable[Sequence[DeclaredTarget]]:
        """Yield, for each config that a target's cases are to agree with, the run targets that give its results."""
        loader = self._comparing.get(target.compile.kind)
        if loader is None:
            return
        module, compiler = target.compile.module, target.compile.compiler.name
        others = self._of_module[one.home, module.name]
        for name in loader.references(module, target.compile.folder, compiler):
            if group := [other for other in others if other.compiled.compiler.name == name]:
                yield group


def _run(group: Iterable[DeclaredTarget]) -> Iterable[RunTarget]:
    return (one.target for one in group if isinstance(one.target, RunTarget))
