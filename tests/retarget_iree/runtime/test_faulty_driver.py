"""A driver that crashes, hangs, loses its device or returns garbage: each target lands on the right rung, and what is
tried of a sick device is held against no module. Real modules, real processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from iree_support import VMVX, Compile
from model_targets import compile_target
from retarget.extension import UnavailableError
from retarget.model import Origin, Rung, RunOutcome, RunTarget, RuntimeConfig
from retarget.session import RunService
from retarget.session.limits import CoolDowns
from retarget.worker.messages import RunModule

ORIGIN = Origin(file=Path("matrix.toml"), key_path="")
TWO = "".join(
    f"""\
func.func @{name}() {{
  %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = arith.addf %a, %a : tensor<3xf32>
  check.expect_eq_const(%b, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}}
"""
    for name in ("one", "two")
)
QUICK = CoolDowns(first=0.05, longest=0.2, waits=2, probe=20.0)
LONG = CoolDowns(first=600.0, longest=600.0, waits=0, probe=20.0)
Serve = Callable[..., RunService]


@pytest.fixture
def artifact(compile_module: Compile, tmp_path: Path) -> Path:
    path = tmp_path / "two.vmfb"
    path.write_bytes(compile_module(TWO, *VMVX))
    return path


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    services = []

    def started(cool_downs: CoolDowns, *, open_timeout: float = 20) -> RunService:
        services.append(
            RunService(
                extensions=("faulty_driver",),
                default_timeout=60,
                open_timeout=open_timeout,
                lease_folder=tmp_path / "leases",
                cool_downs=cool_downs,
            )
        )
        return services[-1]

    yield started
    for service in services:
        service.close()


def faulty(state: Path, *flags: str, name: str = "f") -> RuntimeConfig:
    return RuntimeConfig(name=name, driver="faulty", flags=(f"--state={state}", *flags), origin=ORIGIN)


def two(runtime: RuntimeConfig, *, timeout: float | None = None, name: str = "two") -> RunTarget:
    compiled = compile_target(name, "vmvx")
    return RunTarget(name=f"{name}_vmvx_{runtime.name}", compile=compiled, runtime=runtime, timeout=timeout, tags=())


def opens(state: Path) -> int:
    return len((state / "opens").read_text().splitlines())


def summary(outcome: RunOutcome) -> str:
    assert outcome.failure is not None
    return outcome.failure.summary


SLOW = pytest.mark.slow
CRASHED = "device worker crashed: SIGSEGV"
LOST = "DEVICE_LOST; the device is gone"
HUNG = "run timed out after 2 s"


@pytest.mark.sampled(1, slow=5)
@pytest.mark.parametrize(
    ("flags", "rung", "said"),
    [
        (
            "--fault=open:crash",
            Rung.COMPILES,
            "runtime config 'f': driver 'faulty' crashed while it opened its devices",
        ),
        pytest.param("--fault=open:lose", Rung.COMPILES, "runtime config 'f': driver 'faulty' cannot open", marks=SLOW),
        ("--fault=load:crash", Rung.COMPILES, f"{CRASHED} while loading the artifact"),
        pytest.param("--fault=load:hang", Rung.COMPILES, f"{HUNG} while loading the artifact", marks=SLOW),
        pytest.param("--fault=load:lose --opens=0", Rung.COMPILES, LOST, marks=SLOW),
        pytest.param("--fault=load:garbage", Rung.COMPILES, "this is text and no module", marks=SLOW),
        ("--fault=call:crash", Rung.LOADS, f"{CRASHED} in function 'one'"),
        pytest.param("--fault=call:hang", Rung.LOADS, f"{HUNG} in function 'one'", marks=SLOW),
        pytest.param("--fault=call:lose --opens=0", Rung.LOADS, LOST, marks=SLOW),
        pytest.param("--fault=dispatch:crash", Rung.DISPATCHES, f"{CRASHED} in function 'one'", marks=SLOW),
        pytest.param("--fault=dispatch:hang", Rung.DISPATCHES, f"{HUNG} in function 'one'", marks=SLOW),
        pytest.param("--fault=dispatch:lose --opens=0", Rung.DISPATCHES, LOST, marks=SLOW),
        pytest.param("--fault=after:crash", Rung.DISPATCHES, f"{CRASHED} in function 'one'", marks=SLOW),
        ("--fault=values:garbage", Rung.COMPLETES, "3 of 3 elements differ"),
        pytest.param("--fault=values:garbage --in=two", Rung.COMPLETES, "3 of 3 elements differ", marks=SLOW),
        ("--fault=dispatch:crash --in=two", Rung.DISPATCHES, f"{CRASHED} in function 'two'"),
        pytest.param("--fault=call:crash --in=two", Rung.LOADS, f"{CRASHED} in function 'two'", marks=SLOW),
        pytest.param("", Rung.MATCHES, "", marks=SLOW),
    ],
)
def test_a_fault_leaves_the_target_on_the_rung_that_it_had_reached(
    serve: Serve, artifact: Path, flags: str, rung: Rung, said: str
) -> None:
    runtime = faulty(artifact.parent, *flags.split())
    outcome = serve(QUICK).run(
        RunModule(target=two(runtime, timeout=2 if "hang" in flags else None), artifact=artifact)
    )
    assert outcome.rung is rung
    assert (summary(outcome) if said else "").startswith(said)
    if "--in=two" in flags:
        assert [case.failure is None for case in outcome.cases] == [True, False]


@pytest.mark.slow
def test_transfers_that_never_worked_make_no_device_sick(serve: Serve, artifact: Path, tmp_path: Path) -> None:
    service = serve(QUICK)
    runtime = faulty(tmp_path, "--fault=transfer:garbage", "--also=dispatch:crash")
    assert [service.run(RunModule(target=two(runtime), artifact=artifact)).rung for _ in range(2)] == [
        Rung.DISPATCHES,
        Rung.DISPATCHES,
    ]


@pytest.mark.slow
def test_a_crash_at_the_third_target_is_of_the_third_alone(serve: Serve, artifact: Path, tmp_path: Path) -> None:
    service, runtime = serve(QUICK), faulty(tmp_path, "--fault=dispatch:crash", "--in=two", "--nth=3")
    ran = [service.run(RunModule(target=two(runtime), artifact=artifact)) for _ in range(4)]
    assert [one.rung for one in ran] == [Rung.MATCHES, Rung.MATCHES, Rung.DISPATCHES, Rung.MATCHES]
    assert [one.notes for one in ran] == [()] * 4


@pytest.mark.slow
def test_what_a_device_that_comes_back_does_then_is_the_targets_result(
    serve: Serve, artifact: Path, tmp_path: Path
) -> None:
    service, runtime = serve(QUICK), faulty(tmp_path, "--fault=dispatch:lose", "--in=two", "--nth=1", "--opens=1")
    outcome = service.run(RunModule(target=two(runtime), artifact=artifact))
    assert (outcome.rung, outcome.failure) == (Rung.MATCHES, None)
    (note,) = outcome.notes
    assert note.startswith("faulty device Faulty 1 was gone at ")
    assert note.endswith(
        ", after two_vmvx_f: runtime config 'f': driver 'faulty' cannot open its devices: NOT_FOUND; there is nothing "
        "on the bus; it came back, and two_vmvx_f was run again"
    )


@pytest.mark.parametrize("flags", ["--in=one", "--in=two", pytest.param("--fault=load:lose", marks=SLOW)])
def test_a_target_that_lost_its_device_is_run_again_on_the_device_opened_anew(
    serve: Serve, artifact: Path, tmp_path: Path, flags: str
) -> None:
    flags = flags if "load" in flags else f"--fault=dispatch:lose {flags}"
    runtime = faulty(tmp_path, "--nth=1", "--opens=0", *flags.split())
    service = serve(QUICK)
    outcome = service.run(RunModule(target=two(runtime), artifact=artifact))
    assert (outcome.rung, outcome.failure) == (Rung.MATCHES, None)
    assert outcome.notes == (f"faulty device Faulty 1 was lost: {LOST}; it came back, and two_vmvx_f was run again",)
    assert service.run(RunModule(target=two(runtime), artifact=artifact)).notes == ()


def test_a_device_that_was_gone_before_a_target_and_came_back_is_noted_with_it(
    serve: Serve, artifact: Path, tmp_path: Path
) -> None:
    service, runtime = serve(QUICK), faulty(tmp_path)
    service.devices(runtime)
    (worker,) = service._workers.values()
    worker.close()
    (tmp_path / "gone").write_text("1")
    outcome = service.run(RunModule(target=two(runtime), artifact=artifact))
    assert outcome.rung is Rung.MATCHES
    (note,) = outcome.notes
    assert note.endswith("there is nothing on the bus; it came back")


@pytest.mark.slow
def test_a_device_that_stays_gone_is_tried_by_no_target_of_any_config(
    serve: Serve, artifact: Path, tmp_path: Path
) -> None:
    service, runtime = serve(LONG), faulty(tmp_path, "--fault=dispatch:die", "--in=two")
    other = faulty(tmp_path, name="g")
    service.devices(other)

    killed = service.run(RunModule(target=two(runtime, name="killer"), artifact=artifact))
    assert (killed.rung, summary(killed)) == (Rung.DISPATCHES, f"{CRASHED} in function 'two'")
    assert killed.failure is not None
    assert killed.failure.hint.startswith("faulty device Faulty 1 was gone at ")

    (tmp_path / "gone").unlink()
    before = opens(tmp_path)
    reasons = set()
    for config in (runtime, other):
        with pytest.raises(UnavailableError, match=r"after killer_vmvx_f: .* nothing on the bus$") as error:
            service.run(RunModule(target=two(config), artifact=artifact))
        reasons.add((str(error.value), error.value.lost))
    assert [lost for _, lost in reasons] == [True]
    assert opens(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["dispatch:lose", "load:die"])
def test_what_does_not_explain_that_the_device_is_gone_is_no_result(
    serve: Serve, artifact: Path, tmp_path: Path, fault: str
) -> None:
    with pytest.raises(UnavailableError, match="after two_vmvx_f") as error:
        serve(QUICK).run(RunModule(target=two(faulty(tmp_path, f"--fault={fault}")), artifact=artifact))
    assert error.value.lost


@pytest.mark.slow
def test_after_a_cool_down_the_device_is_probed_and_runs_again(serve: Serve, artifact: Path, tmp_path: Path) -> None:
    service, runtime = (
        serve(CoolDowns(first=0.0, longest=0.0, waits=0)),
        faulty(tmp_path, "--fault=load:die", "--nth=1"),
    )
    for _ in range(2):
        with pytest.raises(UnavailableError) as error:
            service.run(RunModule(target=two(runtime), artifact=artifact))
        assert error.value.lost
    (tmp_path / "gone").unlink()
    assert service.run(RunModule(target=two(runtime), artifact=artifact)).rung is Rung.MATCHES
    assert service.run(RunModule(target=two(runtime), artifact=artifact)).rung is Rung.MATCHES
