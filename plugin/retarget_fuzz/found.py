"""What was found: a folder with a suite and a bundle for each way to fail, a list of them, and a table for a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec
from msgspec import Struct, field
from retarget.session import FileName
from retarget.support import RetargetError, display_path, is_inside, shown, write_atomically

from retarget_fuzz.suites import MODULE, write_module, write_suite
from retarget_fuzz.targets import VAGUE, Config, Failed

if TYPE_CHECKING:
    from retarget_fuzz.programs.program import Program

_EntryT = TypeVar("_EntryT", bound=Struct)

LIST = "findings.json"
TABLE = "findings.md"

_SLUG, _HANGS = 48, 60.0
"""The most characters of a folder's name, and the time limit in seconds of a suite with a program that hangs."""


class Finding(Struct, kw_only=True):
    """One way to fail. `name` is its folder, `configs` say how many programs failed so on each config, `features` what
    the reduced program exercises, `bundle` how its bundle was made, or why there is none; `place` is where it crashes,
    as in `Failed`."""

    name: str
    stage: str
    signature: str
    summary: str
    configs: dict[str, int] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    place: str = ""
    seed: int
    bundle: str = "none: interrupted"

    @property
    def title(self) -> str:
        """The stage, and the first line of the failure."""
        return shown(f"{self.stage}: {self.summary}", 160)

    def covers(self, failed: Failed, features: Collection[str]) -> bool:
        """Whether a failure of a program with some features is likely to be this one."""
        if (failed.way.stage, failed.way.signature) != (self.stage, self.signature):
            return False
        if self.place and failed.place:
            return self.place == failed.place
        there = {_in_any_dialect(one) for one in features}
        exercised = {_in_any_dialect(one) for one in self.features}
        return self.stage not in VAGUE or (failed.config.name in self.configs and exercised <= there)

    def count(self, failed: Failed) -> None:
        """Count a program that fails so."""
        name = failed.config.name
        self.configs[name] = self.configs.get(name, 0) + 1


class Findings:
    """The findings in a folder. Each change is written at once. New ones get no name in `taken`, those of suites."""

    def __init__(self, folder: Path, found: Iterable[Finding] = (), taken: Collection[str] = ()) -> None:
        self.folder = folder
        self._taken = taken
        self.known = list(found)
        self.new: list[Finding] = []

    @classmethod
    def read(cls, folder: Path, taken: Collection[str] = ()) -> Self:
        """Return those of a folder, but those whose own folders have gone. Raises `RetargetError` for a folder of
        something else."""
        return cls(folder, [one for one in read_list(folder, LIST, Finding) if (folder / one.name).is_dir()], taken)

    @property
    def all(self) -> Sequence[Finding]:
        """The findings known before, and the new ones."""
        return [*self.known, *self.new]

    def of(self, failed: Failed, features: Collection[str]) -> Finding | None:
        """Return the finding that a failure is, if it is one that is here."""
        return next((one for one in self.all if one.covers(failed, features)), None)

    def add(
        self, program: Program, failures: Sequence[Failed], *, seed: int, of: Program, is_reduced: bool = False
    ) -> Finding:
        """Keep a program that fails in one way on some configs, and is reduced `of` another. Raises `OSError`."""
        way, features = failures[0].way, exercised(program) & exercised(of)
        did = " ".join(sorted(one.partition(":")[2] for one in features if one.count(":") == 1 and one[:3] == "op:"))
        name = self._name(f"{way.stage} {did if way.stage in VAGUE else way.signature}")
        finding = Finding(
            name=name,
            stage=way.stage,
            signature=way.signature,
            summary=f"{'' if is_reduced else 'not fully reduced: '}{failures[0].summary}",
            configs={failed.config.name: 0 for failed in failures},
            features=features,
            place=failures[0].place,
            seed=seed,
        )
        write_module(self.folder / name, program)
        comment = f"Found by `retarget fuzz` (seed {seed}): {finding.title}"
        configs, timeout = declared_on([one.config for one in failures]), _HANGS if way.is_timeout else None
        write_suite(self.folder / name, name, configs, comment=comment, timeout=timeout)
        self.new.append(finding)
        self.write()
        return finding

    def write(self) -> None:
        """Write the list and the table. Raises `OSError`."""
        write_list(self.folder, LIST, self.all)
        write_atomically(self.folder / TABLE, _table(self.all).encode())

    def _name(self, text: str) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_SLUG].strip("-")
        names = (f"{slug}-{number}" if number > 1 else slug for number in count(1))
        return next(name for name in names if name not in self._taken and not (self.folder / name).exists())


def _in_any_dialect(feature: str) -> str:
    """Return `op:convert` of `op:tosa.convert`: what a compiler gets wrong is wrong in each of them."""
    sort, _, name = feature.partition(":")
    return f"{sort}:{name.partition('.')[2]}" if sort == "op" else feature


def exercised(program: Program) -> frozenset[str]:
    """Return what a program exercises, but for its ranks, which a reduction leaves to chance."""
    return frozenset(one for one in program.features() if not one.startswith("rank:"))


def may_stand_for(program: Program, other: Program, stage: str) -> bool:
    """Whether a finding of a program at a stage explains the failure of another one, whatever sizes they have."""
    more = exercised(program) - exercised(other)
    return stage not in VAGUE or all(one.startswith("size:") for one in more)


def declared_on(configs: Sequence[Config]) -> Mapping[str, Sequence[str]]:
    """Return the names of configs as `write_suite` takes them."""
    found: dict[str, list[str]] = {}
    for config in configs:
        found.setdefault(config.compiler, []).append(config.runtime.name)
    return found


def why_unseen(folder: Path, config: Config) -> str:
    """Return why suites in a folder do not see a config, or nothing: they see those of each `matrix.toml` above."""
    for one in (config.target.compile.compiler, config.runtime):
        file = one.origin.file
        if file.name != FileName.MATRIX or not is_inside(folder, file.parent):
            there = (
                f"; those in {display_path(file.parent / folder.name)} would" if file.name == FileName.MATRIX else ""
            )
            return f"suites in {display_path(folder)} do not see the configs of {display_path(file)}{there}"
    return ""


def read_list(folder: Path, name: str, kind: type[_EntryT]) -> list[_EntryT]:
    """Return what a file of a folder lists; nothing where there is no folder, or an empty one. Raises `RetargetError`
    for a folder of something else, and for a damaged file."""
    try:
        if not folder.is_dir() or not any(folder.iterdir()):
            return []
        return msgspec.json.decode((folder / name).read_bytes(), type=list[kind])  # type: ignore[valid-type]
    except FileNotFoundError as error:
        msg = (
            f"{display_path(folder)} holds something else: found no {name}; expected a new folder or one of a fuzz run"
        )
        raise RetargetError(msg) from error
    except (OSError, msgspec.DecodeError) as error:
        msg = f"cannot read {display_path(folder / name)}: {error}; remove it to begin anew"
        raise RetargetError(msg) from error


def write_list(folder: Path, name: str, entries: Sequence[Struct]) -> None:
    """Write a file that `read_list` reads. Raises `OSError`."""
    content = msgspec.json.format(msgspec.json.encode(entries, order="deterministic"))
    write_atomically(folder / name, content + b"\n")


def _table(findings: Sequence[Finding]) -> str:
    rows = [
        f"| {one.stage} | {', '.join(one.configs)} | {_cell(one.summary)} "
        f"| {max(one.configs.values(), default=0)} | [{one.name}]({one.name}/{MODULE}) | {_cell(one.bundle)} |"
        for one in findings
    ]
    head = (
        "# What `retarget fuzz` found\n\n"
        "Each folder is a suite, which pytest runs, with a bundle that `retarget repro --open` unpacks.\n"
        "`findings.json` lists them for later runs; what is taken out of this folder is new again.\n\n"
        "| what | configs | first line | programs | module | bundle |\n|---|---|---|---|---|---|"
    )
    return "\n".join([head, *rows, ""])


def _cell(text: str) -> str:
    return shown(text, 200).replace("|", "\\|").replace("<", "&lt;")
