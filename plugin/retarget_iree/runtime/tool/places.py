"""Where the tool runs: on this machine, or on a host."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from retarget.extension import UnavailableError
from retarget.model import Host, RuntimeConfig
from retarget.session import platform_mismatch, platform_words
from retarget.support import keep_file
from retarget.worker import HostError, RemoteCalls

from retarget_iree.builds import RuntimeBuild
from retarget_iree.toolchain import find_tool

_MACHINES = {
    3: "x86",
    8: "mips",
    21: "ppc64le",
    40: "arm",
    62: "x86_64",
    183: "arm64",
    243: "riscv64",
    258: "loongarch64",
}
"""The machine numbers of ELF files, in the words of `host_arch`."""
_ALSO = {"arm64": ("arm",), "x86_64": ("x86",)}
"""Other architectures that a machine runs."""
_LIBRARIES = ("lib*.so*", "../lib/lib*.so*", "lib*.dylib", "../lib/lib*.dylib")
"""The libraries of a build, relative to its tool."""


class Place:
    """Where a tool runs: this machine. `tool` is its command there, `build` names it for people."""

    def __init__(self, config: RuntimeConfig) -> None:
        build = find_tool(config.toolchain)
        self.tool, self.build = str(build.tool), build.describe(runs_tool=True)

    def run(
        self, argv: Sequence[str], *, inputs: Sequence[Path] = (), outputs: Sequence[Path] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run the tool, whose arguments name the files that it reads and writes by their paths on this machine. Raises
        `OSError` where it does not start, `HostError` where its host fails."""
        del inputs, outputs  # they are here
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )

    def by_hand(self, argv: Sequence[str], files: Mapping[Path, Path | None]) -> Sequence[str]:
        """Return a command for people. `files` are those that it names, with the permanent path of each on this
        machine; files without one are copied."""
        kept = {str(path): str(stays or keep_file("inputs", path.read_bytes())) for path, stays in files.items()}
        return RemoteCalls.with_paths(argv, kept)

    def close(self) -> None:
        """End the connection, if there is one."""


class HostPlace(Place):
    """A host, to which the tool is pushed unless it has its own."""

    def __init__(self, config: RuntimeConfig, host: Host) -> None:
        """Connect. Raises `UnavailableError` where the host is not reached or cannot run the config."""
        self._needs: dict[str, Path] = {}
        self._env = (*host.env, *config.env)
        build = None if host.run_with else find_tool(config.toolchain)
        try:
            with ExitStack() as connected:
                self._calls = connected.enter_context(closing(RemoteCalls(host)))
                self.tool, self.build = self._chosen(config, build)
                connected.pop_all()
        except HostError as error:
            raise UnavailableError(str(error), error.hint) from error

    def _chosen(self, config: RuntimeConfig, build: RuntimeBuild | None) -> tuple[str, str]:
        """Return the tool on the host and its name for people: the host's own, or that of a build, which is to be
        pushed.

        Raises `UnavailableError` where it cannot run there.
        """
        host, found = self._calls.host, self._calls.platform
        where = f"host {host.name!r}"
        platform = platform_words(found.system, found.machine)
        if mismatch := platform_mismatch(config, [platform], f"{where} is"):
            raise UnavailableError(mismatch)
        if build is None or build.tool is None:
            digest = self._calls.digest(host.run_with)
            return host.run_with, f"{host.run_with} of {where} (SHA-256 {digest[:12]})"
        machine, needed = platform[1], _machine(build.tool)
        if not config.run_under and needed not in {"", machine, *_ALSO.get(machine, ())}:
            msg = f"{build.tool.name} ({build.describe()}) is built for {needed}; {where} is {machine}"
            hint = "`toolchain` of the runtime config names another build, `run_with` of the [[host]] its own tool"
            raise UnavailableError(msg, hint)
        self._needs, tool = _pushed(build.tool)
        return tool, build.describe(runs_tool=True)

    def run(
        self, argv: Sequence[str], *, inputs: Sequence[Path] = (), outputs: Sequence[Path] = ()
    ) -> subprocess.CompletedProcess[str]:
        needs = self._needs | {RemoteCalls.pushed_name(path): path for path in inputs}
        return self._calls.run(argv, env=self._env, needs=needs, outputs=outputs)

    def by_hand(self, argv: Sequence[str], files: Mapping[Path, Path | None]) -> Sequence[str]:
        return self._calls.by_hand(argv, env=self._env, needs={RemoteCalls.pushed_name(path): path for path in files})

    def close(self) -> None:
        self._calls.close()


def _pushed(tool: Path) -> tuple[dict[str, Path], str]:
    """Return the files of a tool by their names on hosts, and its own: one folder, named by the content of all."""
    files = {f"./{tool.name}": tool}
    for pattern in _LIBRARIES:
        files |= {f"{Path(pattern).parent / path.name}": path for path in sorted(tool.parent.glob(pattern))}
    digests = "".join(f"{name}\0{RemoteCalls.pushed_name(path)}\n" for name, path in files.items())
    folder = f"store/{hashlib.sha256(digests.encode()).hexdigest()}.tool/bin"
    names = {name: os.path.normpath(f"{folder}/{name}") for name in files}
    return {names[name]: path for name, path in files.items()}, names[f"./{tool.name}"]


def _machine(tool: Path) -> str:
    """Return an ELF file's architecture; empty for other files and unknown machines."""
    with tool.open("rb") as stream:
        head = stream.read(20)
    return _MACHINES.get(head[18] | head[19] << 8, "") if head[:4] == b"\x7fELF" else ""


def open_place(config: RuntimeConfig) -> Place:
    """Return where a config's tool runs. Raises `UnavailableError`."""
    return Place(config) if config.host is None else HostPlace(config, config.host)
