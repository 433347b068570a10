"""Files of a session on a worker's machine: left where both see the same, else fetched, and named at both ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.extension import CompileRequest, Resolved
from retarget.model import Failure, RunOutcome, Stage
from retarget.session import CompileJob, RunJob
from retarget.session.cache.key import InputDigests, Inputs
from retarget.support import RetargetError
from retarget.worker.messages import CompileModule, RunModule
from retarget_cluster.jobs import Job
from retarget_cluster.worker.content import Content, translated
from targets_of_doubles import compile_target, run_target, runtime_config

ELSEWHERE = Path("/elsewhere/suite")


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def session(files: dict[str, bytes]) -> Callable[[str, int], bytes | None]:
    """A session that gives files by digest, four bytes at a time."""
    known = {digest_of(data): data for data in files.values()}

    def fetch(digest: str, offset: int) -> bytes | None:
        return known[digest][offset : offset + 4] if digest in known else None

    return fetch


def run_job(tmp_path: Path, files: dict[str, bytes]) -> Job:
    target = run_target(tmp_path, runtime_config())
    moved = {
        name: Path(str(path).replace(str(tmp_path), str(ELSEWHERE)))
        for name, path in (("folder", target.compile.folder), ("path", target.compile.module.path))
    }
    module = replace(target.compile.module, path=moved["path"], data=(ELSEWHERE / "cases.toml",))
    target = replace(target, compile=replace(target.compile, folder=moved["folder"], module=module))
    message = RunModule(target=target, artifact=Path("/elsewhere/cache/a.vmfb"), digest=digest_of(b"artifact"))
    inputs = tuple((name, digest_of(data)) for name, data in files.items())
    return Job(work=RunJob(message=message, files=(), timeout=1.0), extensions=(), folder=ELSEWHERE, files=inputs)


def test_files_of_a_run_are_fetched_and_named_where_they_are(tmp_path: Path) -> None:
    files = {
        "/elsewhere/suite/module.txt": b"module",
        "/elsewhere/suite/cases.toml": b"some cases",
        "/elsewhere/suite/data/x.npy": b"values",
        "/elsewhere/cache/a.vmfb": b"artifact",
    }
    scratch = tmp_path / "scratch"
    content = Content(tmp_path / "content", 1000)
    job = content.localised(run_job(tmp_path, files), scratch, session(files))
    assert isinstance(job.work, RunJob)
    message, compiled = job.work.message, job.work.message.target.compile
    assert message.artifact.read_bytes() == b"artifact"
    assert compiled.folder == Path(f"{scratch}/elsewhere/suite")
    assert compiled.module.path.read_bytes() == b"module"
    assert [path.read_bytes() for path in compiled.module.data] == [b"some cases"]
    assert (compiled.folder / "data/x.npy").read_bytes() == b"values"
    failure = Failure(stage=Stage.LOAD, summary=f"{compiled.module.data[0]}:3: found no case")
    outcome = translated(RunOutcome(devices=(), failure=failure), scratch)
    assert outcome.failure.summary == "/elsewhere/suite/cases.toml:3: found no case"


@pytest.mark.parametrize("links", [True, False])
def test_content_is_fetched_once_and_again_when_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr("os.link", lambda *_: Path("/no/link").stat())
    files = {
        "/elsewhere/suite/module.txt": b"module",
        "/elsewhere/suite/cases.toml": b"cases",
        "/elsewhere/cache/a.vmfb": b"artifact",
    }
    content = Content(tmp_path / "content", 1000)
    for place, given in enumerate((files, {}, files)):
        job = content.localised(run_job(tmp_path, files), tmp_path / str(place), session(given))
        assert isinstance(job.work, RunJob)
        assert job.work.message.artifact.read_bytes() == b"artifact"
        if place:
            digest = digest_of(b"artifact")
            (tmp_path / "content" / digest[:2] / digest).write_bytes(b"damaged!")


def test_damaged_content_is_not_used(tmp_path: Path) -> None:
    files = {"/elsewhere/suite/module.txt": b"module"}
    content = Content(tmp_path / "content", 1000)
    with pytest.raises(
        RetargetError, match=r"^/elsewhere/suite/module.txt changed while it was sent, or the session is gone$"
    ):
        content.localised(run_job(tmp_path, files), tmp_path / "1", lambda _, offset: b"other"[offset:])
    with pytest.raises(
        RetargetError, match=r"^/elsewhere/suite/module.txt changed while it was sent, or the session is gone$"
    ):
        content.localised(run_job(tmp_path, files), tmp_path / "2", lambda *_: None)
    assert not [path for path in (tmp_path / "content").rglob("*") if path.is_file()]


def compile_job(tmp_path: Path, flags: tuple[str, ...], inputs: Inputs) -> Job:
    target = compile_target(tmp_path, "module", "")
    request = CompileRequest(
        source=b"", source_name="m", source_path=tmp_path / "m", resolved=Resolved(build_id="1", flags=flags)
    )
    message = CompileModule(compiler="double", request=request)
    work = CompileJob(
        title="t",
        config=target.compiler,
        fingerprint="",
        env=(),
        message=replace(message, then=message),
        inputs=inputs,
        timeout=1.0,
    )
    return Job(work=work, extensions=(), folder=ELSEWHERE, files=inputs)


def test_flags_name_the_files_that_were_fetched(tmp_path: Path) -> None:
    inputs = (("weights/a.irpa", digest_of(b"weights")), ("/elsewhere/b.mlir", digest_of(b"other")))
    flags = (
        "--parameters=model=weights/a.irpa",
        "--libs=/elsewhere/b.mlir,x",
        "--name=weights/a.irpa.old",
        "-Iweights/a.irpa",
    )
    files = {"a": b"weights", "b": b"other"}
    scratch = tmp_path / "scratch"
    job = Content(tmp_path / "content", 1000).localised(compile_job(tmp_path, flags, inputs), scratch, session(files))
    assert isinstance(job.work, CompileJob)
    message = job.work.message
    assert message.request.resolved.flags == (
        f"--parameters=model={scratch}/elsewhere/suite/weights/a.irpa",
        f"--libs={scratch}/elsewhere/b.mlir,x",
        "--name=weights/a.irpa.old",
        f"-I{scratch}/elsewhere/suite/weights/a.irpa",
    )
    assert message.then is not None
    assert message.then.request.resolved.flags == message.request.resolved.flags
    assert Path(f"{scratch}/elsewhere/b.mlir").read_bytes() == b"other"


def test_what_is_here_already_stays_where_it_is_beside_what_was_fetched(tmp_path: Path) -> None:
    here = tmp_path / "here.irpa"
    here.write_bytes(b"here")
    inputs = ((str(here), digest_of(b"here")), ("/elsewhere/b.mlir", digest_of(b"other")))
    flags = (f"--parameters={here}", "--libs=/elsewhere/b.mlir")
    scratch = tmp_path / "scratch"
    content = Content(tmp_path / "content", 1000)
    job = content.localised(compile_job(tmp_path, flags, inputs), scratch, session({"b": b"other"}))
    assert isinstance(job.work, CompileJob)
    assert job.work.message.request.resolved.flags == (f"--parameters={here}", f"--libs={scratch}/elsewhere/b.mlir")
    files = {"/elsewhere/suite/module.txt": b"module"}
    run = run_job(tmp_path, files)
    run = replace(run, files=(*run.files, (str(here), digest_of(b"here"))))
    content.localised(run, tmp_path / "run", session(files))
    assert Path(f"{tmp_path / 'run'}{here}").read_bytes() == b"here"  # what a run names is all in one place


def test_a_folder_that_is_not_here_is_refused(tmp_path: Path) -> None:
    inputs = (("/elsewhere/include", "tree 1234"),)
    job = compile_job(tmp_path, ("-I/elsewhere/include",), inputs)
    reason = "^/elsewhere/include is not the same on this machine, and only single files are brought here$"
    with pytest.raises(RetargetError, match=reason):
        Content(tmp_path / "content", 1000).localised(job, tmp_path / "scratch", session({}))


def test_a_program_on_path_is_the_same_on_this_machine_or_the_job_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tool").write_bytes(b"here")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    content = Content(tmp_path / "content", 1000)
    job = compile_job(tmp_path, ("--run=tool",), InputDigests().of((), files=[Path("tool")]))
    assert content.localised(job, tmp_path / "scratch", session({})) == job
    (tmp_path / "tool").write_bytes(b"another")
    with pytest.raises(RetargetError, match="tool is not the same on this machine"):
        content.localised(job, tmp_path / "scratch", session({}))


def test_content_is_bounded(tmp_path: Path) -> None:
    content = Content(tmp_path / "content", 20)
    for number in range(5):
        files = {"/elsewhere/suite/module.txt": b"12345678" + str(number).encode()}
        content.localised(run_job(tmp_path, files), tmp_path / str(number), session(files))
    assert sum(path.stat().st_size for path in (tmp_path / "content").rglob("*") if path.is_file()) <= 20


def test_a_large_source_comes_as_a_file(tmp_path: Path) -> None:
    inputs = (("/elsewhere/suite/big.mlir", digest_of(b"a large module")),)
    job = replace(compile_job(tmp_path, (), inputs), source="/elsewhere/suite/big.mlir")
    found = Content(tmp_path / "content", 1000).localised(job, tmp_path / "scratch", session({"a": b"a large module"}))
    assert isinstance(found.work, CompileJob)
    assert found.work.message.request.source == b"a large module"
