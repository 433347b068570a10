"""A worker: what it refuses to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed")
from retarget.engine.executor import RunJob
from retarget.model.outcomes import DeviceInfo
from retarget.worker.messages import RunModule
from retarget_cluster.jobs import Job
from retarget_cluster.worker.engine import LocalEngine
from retarget_cluster.worker.site import Site, SiteOptions, _DeclinedError
from targets_of_doubles import EXTENSIONS, run_target, runtime_config


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    options = SiteOptions(
        address="tcp://127.0.0.1:1",
        name="gpu-1",
        cores=1,
        cache=tmp_path,
        extensions=EXTENSIONS,
        toolchains={},
        probes=False,
        patience=1.0,
    )
    site = Site(options)
    yield site
    site.close()


def run_of(tmp_path: Path, name: str) -> Job:
    message = RunModule(target=run_target(tmp_path, runtime_config(name)), artifact=tmp_path / "a", digest="")
    return Job(work=RunJob(message=message, files=(), timeout=1.0), extensions=(), folder=tmp_path)


def test_a_device_is_quarantined_after_two_failures(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = run_of(tmp_path, "gpu")
    site._device_failed(job, "it was gone at 12:00:01")
    site._expect_fit(job)
    assert site.quarantined == {}
    site._device_failed(job, "it was gone at 12:00:09")
    reason = "runtime config gpu is quarantined after 2 failures: it was gone at 12:00:09"
    assert capsys.readouterr().err == f"retarget worker gpu-1: {reason}\n"
    assert list(site.quarantined.values()) == [reason]
    with pytest.raises(_DeclinedError, match=reason):
        site._expect_fit(job)
    site._expect_fit(run_of(tmp_path, "another"))


def test_a_draining_worker_takes_no_more(site: Site, tmp_path: Path) -> None:
    job = run_of(tmp_path, "gpu")
    site._expect_fit(job)
    site.draining = True
    with pytest.raises(_DeclinedError, match="it is draining"):
        site._expect_fit(job)


def test_a_device_goes_by_its_own_name_whatever_extensions_a_session_names(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="Double", physical_id="pci-1")
    monkeypatch.setattr(LocalEngine, "opened", lambda engine, runtime: (info,))
    job = run_of(tmp_path, "gpu")
    site._device_failed(job, "it was gone")
    site._device_failed(job, "it was gone")
    assert site.quarantined == {"pci-1": "pci-1 is quarantined after 2 failures: it was gone"}


def device(physical_id: str) -> DeviceInfo:
    return DeviceInfo(driver="double", uri="double://0", name="a device", physical_id=physical_id, ordinal=0)


def test_a_driver_always_has_a_slot_as_what_is_queued_would_else_wait_for_ever(site: Site) -> None:
    assert site._runs_at_a_time(()) == 1  # behind `run_under`
    assert site._runs_at_a_time((device("gpu-1"), device("gpu-2"))) == 2
    site.quarantined = {"gpu-1": "it was gone", "gpu-2": "it was gone"}
    assert site._runs_at_a_time((device("gpu-1"), device("gpu-2"))) == 1
