"""Sessions whose runtime configs run on another machine: a real OpenSSH server, a real compiler, a real driver."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from acceptance_support import VMVX, Project, matrix, suite
from declaration_texts import runtime, table, target
from ssh_server import SshServer

pytestmark = pytest.mark.needs_sshd

MODULE = """
func.func @doubled() {
  %a = util.unfoldable_constant dense<[1.5, -2.0]> : tensor<2xf32>
  %b = arith.addf %a, %a : tensor<2xf32>
  check.expect_eq_const(%b, dense<[3.0, -4.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
func.func @wrong() {
  %a = util.unfoldable_constant dense<[1.5, -2.0]> : tensor<2xf32>
  check.expect_eq_const(%a, dense<[1.5, 7.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
"""
KILLS = ["sh", "-c", 'case "$*" in *--module*) kill -9 -$(ps -o pgid= -p $$ | tr -d " ");; esac; exec "$@"', "sh"]


def host(name: str, server: SshServer, project: Project, options: tuple[str, ...] = (), **fields: object) -> str:
    folders = {"folder": f"{project.path}/on host", "lease_folder": f"{project.path}/host leases"}
    return table(
        "host", name=name, kind="ssh", address=name, options=[*(options or server.client(name))], **folders | fields
    )


@pytest.mark.slow
def test_a_session_runs_on_a_host_and_says_of_those_that_it_does_not_reach_why(
    project: Project, ssh_server: SshServer
) -> None:
    configs = {
        "good": host("board", ssh_server, project, env={"UNUSED": "a b"}),
        "down": host("off", ssh_server, project, ssh_server.client("off", port=1)),
        "key": host("locked", ssh_server, project, ssh_server.client("locked", key="other_key")),
        "lacking": host("bare", ssh_server, project, run_with="/no/iree-run-module"),
        "breaks": host("fragile", ssh_server, project),
        "mac": host("linux", ssh_server, project),
    }
    names = dict(zip(configs, ("board", "off", "locked", "bare", "fragile", "linux"), strict=True))
    further: dict[str, dict[str, object]] = {"breaks": {"run_under": KILLS}, "mac": {"host_os": "macos"}}
    runtimes = [runtime(name, host=names[name], **further.get(name, {})) for name in configs]
    text = matrix(VMVX, *configs.values(), *runtimes, target("cpu", "vmvx", [*configs]))
    project.write({"matrix.toml": text, "suites/suite.toml": suite(), "suites/m.mlir": MODULE})
    result = project.run("suites", "-m", "run", "-rs")
    output = result.stdout.str()
    result.assert_outcomes(failed=2, skipped=4)
    for reason in (
        "host 'off' (off) is not reached: ssh: connect to host 127.0.0.1 port 1: Connection refused (exit status 255)",
        "host 'locked' (locked) is not reached: *Permission denied (publickey)*",
        "host 'bare' has no /no/iree-run-module: *",
        "runtime config 'mac' needs macos; host 'linux' is linux on x86_64",
    ):
        result.stdout.fnmatch_lines([f"*{reason}*"])
    assert "the connection to host 'fragile' broke: " in output
    assert "compare: wrong: 1 of 2 elements differ, first at [1]: actual -2.0, expected 7.0" in output
    command = next(
        line for line in output.splitlines() if line.strip().startswith("ssh ") and "--function=wrong" in line
    )
    assert "--module=-" in command
    assert command.endswith(f" < {tempfile.gettempdir()}/m_vmvx.vmfb")
    assert "UNUSED=a b" in command


@pytest.mark.slow
def test_two_sessions_at_once_use_a_host_one_after_the_other(project: Project, ssh_server: SshServer) -> None:
    runs = project.path / "runs"
    noting = [
        "sh",
        "-c",
        f'case "$*" in *--module*) echo + >> {runs}; "$@"; s=$?; echo - >> {runs}; exit $s;; esac; exec "$@"',
        "sh",
    ]
    text = matrix(
        VMVX,
        host("board", ssh_server, project),
        runtime("r", host="board", run_under=noting),
        target("cpu", "vmvx", ["r"]),
    )
    modules = {f"suites/m{number}.mlir": MODULE.partition("func.func @wrong")[0] for number in range(3)}
    project.write({"matrix.toml": text, "suites/suite.toml": suite(), **modules})
    project.run("suites").assert_outcomes(passed=6)  # compiled
    runs.unlink()
    sessions = [project.start("suites", "-q") for _ in range(2)]
    assert [session.wait(300) for session in sessions] == [0, 0]
    assert runs.read_text().split() == ["+", "-"] * 6


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="needs qemu-aarch64 and `make toolchains`")
def test_an_arm64_host_gets_the_tool_of_its_toolchain(project: Project, ssh_server: SshServer) -> None:
    """The host is the loopback server with QEMU; without it, the tool is refused before it is pushed."""
    toolchain = Path(__file__).parents[2] / "build" / "toolchains" / "iree-linux-arm64"
    if not toolchain.is_dir():
        pytest.skip("needs `make toolchains`")
    flags = [
        "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu", "--iree-llvmcpu-target-cpu=generic",
    ]  # fmt: skip
    arm64 = {"host": "board", "toolchain": "arm64"}
    text = matrix(
        table("toolchain", name="arm64", path=str(toolchain)),
        host("board", ssh_server, project),
        table("compiler_config", name="arm", compiler="iree", flags=flags),
        runtime("emulated", run_under=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], **arm64),
        runtime("bare", **arm64),
        target("cpu", "arm", ["emulated", "bare"]),
    )
    module = MODULE.partition("func.func @wrong")[0]
    project.write({"matrix.toml": text, "suites/suite.toml": suite(), "suites/m.mlir": module})
    result = project.run("suites", "-m", "run", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*iree-run-module (*) is built for arm64; host 'board' is x86_64*"])
