"""What is fuzzed: for each kind of input real files of this checkout, and the functions that read one.

A reader returns for an input that it takes, and raises `RetargetError` for one that it refuses.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import zstandard
from mutations import mutated, mutated_json
from retarget.arrays import StoredArrays
from retarget.extension import CaseLoader, CaseRequest, FunctionInfo
from retarget.model import CompilerConfig, CompileTarget, Failure, Module, Origin, Stage
from retarget.profiles import Profile
from retarget.results import (
    History,
    Leg,
    Outcome,
    Plan,
    ResultsWriter,
    Sessions,
    TargetRecord,
    digest_of_ids,
    new_session,
)
from retarget.results.export import ctrf, junit, trace
from retarget.results.history import add_run
from retarget.results.merge import check_agreement
from retarget.results.record import CompileRecord, RunRecord
from retarget.session import DeclarationLoader, Registry, Selector, Store, expand_suite, load_extensions
from retarget.session.cache.key import digest_of
from retarget.session.cache.transfer import ArtifactFolder, export_artifact
from retarget.session.run.lease import DeviceLeases, Lease, current_holder
from retarget.support import DiagnosticsError, RetargetError
from retarget_bringup.ladder.files import read_ladder, read_settings
from retarget_cases.filecheck.directives import directive_diagnostics
from retarget_cases.files.read import read_cases_file
from retarget_cases.loader import CasesLoader
from retarget_cases.onnx.manifest_file import read_manifest
from retarget_ci.files import read_ci
from retarget_ci.lock import lock_problems
from retarget_import.evaluate import read_build_file
from retarget_import.read import read_tests
from retarget_iree.flagfile.loader import RunModuleCaseLoader
from retarget_iree.flagfile.parse import load_flagfile
from retarget_iree.import_xfails import read_config_file
from retarget_opencl.artifact.file import (
    ArtifactError,
    Constant,
    Export,
    Function,
    Kernel,
    KernelSource,
    OpenClArtifact,
    Program,
    read_artifact,
    write_artifact,
)
from retarget_opencl.artifact.show import show_artifact
from retarget_opencl.device.profile import compile_profile
from retarget_profiles.importers import import_profile
from retarget_repro.bundle.archive import pack, unpack
from retarget_repro.bundle.format import Bundle, CompileStep, Observed, Reproduced, read_bundle, write_json

__all__ = ["Kind", "kinds", "sealed_opencl"]

_ROOT = Path(__file__).parents[2]
_SUITES = ("cases", "small-types", "multi-device", "run-module", "onnx", "filecheck", "data-tiling")

Mutate = Callable[[bytes, Sequence[bytes], random.Random], bytes]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of input. `files` are real ones, in the folder that readers may use; each is replaced and put back.

    `weight` is the share of the inputs. `names_file` is false where the file's place is known to the caller alone.
    """

    name: str
    files: Sequence[Path]
    read: Callable[[Path], object]
    mutate: Mutate = mutated
    weight: float = 1.0
    names_file: bool = True


def kinds(folder: Path) -> list[Kind]:
    """Make the files of all kinds in `folder`, and return the kinds."""
    registry = load_extensions()
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    for name in ("matrix.toml", *_SUITES):
        _copy(_ROOT / "suites" / name, project / name)
    _copy(_ROOT / "bringup", folder / "bringup")
    for name in ("ci.toml", "ci.lock"):
        _copy(_ROOT / name, folder / name)
    (folder / "suites").symlink_to(project)
    return [
        *_declarations(project, registry),
        *_data(project, folder),
        Kind(name="ci.toml", files=[folder / "ci.toml"], read=read_ci),
        Kind(name="ci.lock", files=[folder / "ci.lock"], read=_lock_reader(folder), names_file=False, weight=0.5),
        Kind(name="bring-up settings", files=sorted((folder / "bringup").glob("*.toml")), read=read_settings),
        Kind(name="ladders", files=sorted((folder / "bringup").glob("*.ladder")), read=read_ladder),
        *_profiles(folder),
        *_results(folder),
        *_stored(folder, registry),
        *_bundles(folder),
        _opencl(folder),
        _lease(folder),
    ]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.mlir.bin", "__pycache__"))
    else:
        shutil.copyfile(source, target)


def _declarations(project: Path, registry: Registry) -> list[Kind]:
    def suite(path: Path) -> None:
        for one in DeclarationLoader(registry).load_suite_file(path):
            if registry.unknown(one):  # which pytest says of its targets
                continue
            for target in expand_suite(one, registry)[:50]:
                str(target.name)

    def matrix(path: Path) -> None:
        if found := DeclarationLoader(registry).read_matrix_file(path):
            raise DiagnosticsError(found)

    def expectations(path: Path) -> None:
        suite(path.with_name("suite.toml"))

    def selector(path: Path) -> None:
        try:
            Selector(path.read_bytes().decode(errors="replace"))
        except ValueError as error:  # the caller says where it was written
            raise RetargetError(str(error)) from error

    def small(name: str) -> list[Path]:
        return [path for path in sorted(project.rglob(name)) if "onnx" not in path.parts]

    words = project / "selection.txt"
    words.write_text("(vulkan or opencl) and not (slow or conformance) and suite-linalg or not f16")
    return [
        Kind(name="suite.toml", files=small("suite.toml"), read=suite, weight=1.5),
        Kind(name="matrix.toml", files=sorted(project.rglob("matrix.toml")), read=matrix),
        Kind(name="expectations.toml", files=small("expectations.toml"), read=expectations, weight=0.7),
        Kind(name="selections", files=[words], read=selector, names_file=False),
    ]


def _data(project: Path, folder: Path) -> list[Kind]:
    cases, flagfiles = CasesLoader(), RunModuleCaseLoader()

    def read_cases(loader: CaseLoader, path: Path, functions: Iterable[str], types: tuple[str, ...]) -> None:
        known = tuple(
            FunctionInfo(name=name, arguments=len(types) or None, argument_types=types, result_types=types[:1])
            for name in functions
        )
        request = CaseRequest(
            module="m", source=path, data=(path,), folder=path.parent, compiler="llvm-cpu", functions=known
        )
        for case in loader.load(request):
            assert case.read is not None
            case.read()

    def case_file(path: Path) -> None:
        written = read_cases_file(path, path.parent).cases
        types = ("tensor<?x?xf32>",) * max((len(case.inputs) for case in written), default=1)
        read_cases(cases, path, {case.function or "main" for case in written}, types)

    def flagfile(path: Path) -> None:
        flagfiles.find_modules(path.parent, [path])
        function = load_flagfile(path, path.parent).function
        read_cases(flagfiles, path, [function.text if function else "main"], ())

    def array(path: Path) -> None:
        StoredArrays(path=path).of_archive("a") if path.suffix == ".npz" else StoredArrays(path=path).only()

    npz = folder / "a.npz"
    np.savez_compressed(npz, a=np.arange(12, dtype=np.float32).reshape(3, 4), b=np.zeros(3, np.int8))
    xfails = folder / "cpu.json"
    xfails.write_text(
        '{"config_name": "cpu", // a comment\n"iree_compile_flags": ["--iree-hal-target-device=local"],\n'
        '"iree_run_module_flags": ["--device=local-task"], "skip_compile_tests": [], "skip_run_tests": ["onnx/t"],\n'
        '"expected_compile_failures": ["onnx/node/generated/test_dft"], "expected_run_failures": ["a[b]"],\n'
        '"golden_times_ms": {"onnx/t": 1.5}, "golden_size": {"mi300": 2000}}\n'
    )
    build = folder / "BUILD.bazel"
    build.write_text(
        'SOURCES = glob(["*.mlir"], exclude = ["b.mlir"])  # slow\niree_check_single_backend_test_suite(\n'
        '    name = "check_vmvx", srcs = SOURCES + ["a.mlir"], target_backend = "vmvx", driver = "local-sync",\n'
        '    compiler_flags = ["--iree-opt-level=O1"], tags = ["noriscv"], timeout = "long",\n)\n'
        '[iree_check_test_suite(name = "of_" + n, srcs = [n + ".mlir"]) for n in ["a", "b"] if n not in ["b"]]\n'
        'iree_lit_test_suite(name = "lit", srcs = select({"//conditions:default": ["c.mlir"]}), cfg = "lit.cfg.py")\n'
    )
    checks = sorted((project / "filecheck").glob("*.mlir"))
    return [
        Kind(name="cases files", files=sorted(project.rglob("*.cases.toml")), read=case_file, weight=2),
        Kind(name="flagfiles", files=sorted(project.rglob("*.txt")), read=flagfile, weight=2),
        Kind(name="arrays", files=[*sorted(project.rglob("*.npy")), npz], read=array),
        Kind(name="config lists", files=[xfails], read=read_config_file),
        Kind(name="BUILD files", files=[build], read=_build_file),
        Kind(name="ONNX manifests", files=[project / "onnx" / "nodes.toml"], read=read_manifest, weight=0.3),
        Kind(name="FileCheck", files=checks, read=_directives, names_file=False),
    ]


def _build_file(path: Path) -> None:
    read_tests(read_build_file(path), ("local-sync", "local-task", "vulkan"))


def _directives(path: Path) -> None:
    list(directive_diagnostics(path.read_bytes().decode(errors="replace"), ("CHECK", "VMVX"), ("vmvx", "llvm-cpu")))


def _lock_reader(folder: Path) -> Callable[[Path], object]:
    expected = (_ROOT / "ci.lock").read_text()
    return lambda path: list(lock_problems(folder, expected))


def _profiles(folder: Path) -> list[Kind]:
    shipped = sorted((_ROOT / "plugin/retarget_profiles/shipped").rglob("*.toml"))[:8]
    reports = sorted(
        path for path in (_ROOT / "tests/retarget_profiles/data").iterdir() if path.stat().st_size < 200_000
    )
    own, imported = folder / "profiles", folder / "reports"
    for there, files in ((own, shipped), (imported, reports)):
        there.mkdir()
        for path in files:
            shutil.copyfile(path, there / path.name)
    return [
        Kind(name="profiles", files=sorted(own.iterdir()), read=lambda path: Profile.read(path).text()),
        Kind(
            name="reports of devices",
            files=sorted(imported.iterdir()),
            read=lambda path: import_profile([path], name="p").text(),
            mutate=_either,
        ),
    ]


def _either(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    return mutated_json(data, others, chance) if data[:1] == b"{" else mutated(data, others, chance)


def _results(folder: Path) -> list[Kind]:
    there = folder / "results"
    start = new_session(selected=3, digest="0" * 64, revision="abc+", host="h", cores=2, arguments=("-m", "x"))
    with ResultsWriter(there, start) as writer:
        for number, outcome in enumerate((Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)):
            known = {"suite": "s", "compiler": "c", "outcome": outcome, "session": start.session, "stage": "compare"}
            writer.write(
                TargetRecord(
                    nodeid=f"suite.toml::s::m{number}_c",
                    target=f"m{number}_c",
                    **known,
                    compile=CompileRecord(key="k", seconds=1.0, artifact="a"),
                )
            )
            run = RunRecord(load_seconds=0.1, run_seconds=1.0, compare_seconds=0.0)
            writer.write(
                TargetRecord(
                    nodeid=f"suite.toml::s::m{number}_c_r",
                    target=f"m{number}_c_r",
                    runtime="r",
                    run=run,
                    message="compare: values differ",
                    **known,
                )
            )
        writer.end(1)
    sessions = Sessions.read([there])
    _, _ = add_run(sessions, str(folder / "history"))
    ids = ("suite.toml::s::m0_c", "suite.toml::s::m0_c_r")
    leg = Leg(
        name="linux-0", kind="run", runner="linux", labels=("x",), ids=ids, digest=digest_of_ids(ids), seconds=2.0
    )
    plan = folder / "plan.json"
    plan.write_bytes(Plan(event="pr", paths=("suites",), select="not slow", legs=(leg,)).text)

    def results(path: Path) -> None:
        read = Sessions.read([path])
        check_agreement(read)
        ctrf(read), junit(read), trace(read)

    def history(path: Path) -> None:
        found = History.read(str(path.parent))
        if found.damaged:
            raise RetargetError("\n".join(found.damaged))

    def plan_again(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        changed = mutated_json(data, others, chance)
        try:
            file = json.loads(changed)
            file["digest"] = msgspec.convert({key: file[key] for key in file if key != "digest"}, Plan).digest
            return json.dumps(file).encode()
        except (ValueError, TypeError, KeyError, msgspec.ValidationError, RecursionError):
            return changed

    def lines(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        rows = data.splitlines(keepends=True)
        at = chance.randrange(len(rows))
        rows[at] = mutated_json(rows[at].rstrip(b"\n"), rows, chance) + b"\n"
        return b"".join(rows) if chance.random() < 0.7 else mutated(data, others, chance)

    bomb = gzip.compress(bytes(1 << 24)) * 64  # a GiB

    def packed(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        match chance.randrange(4):
            case 0:
                return mutated(data, others, chance)
            case 1 if chance.random() < 0.05:  # what is small and becomes large
                return bomb
        return gzip.compress(mutated_json(gzip.decompress(data), [gzip.decompress(one) for one in others], chance), 1)

    return [
        Kind(name="results", files=sorted(there.iterdir()), read=results, mutate=lines, weight=2),
        Kind(name="histories", files=sorted((folder / "history").iterdir()), read=history, mutate=packed),
        Kind(name="plans", files=[plan], read=Plan.read, mutate=plan_again),
    ]


def _stored(folder: Path, registry: Registry) -> list[Kind]:
    store = Store(folder / "cache", max_bytes=1 << 30)
    key, other, resolution = (digest_of(one) for one in (b"a", b"b", b"c"))
    outcome = store.put_artifact(key, b"artifact", suffix=".vmfb", seconds=1.0, diagnostics="warning: x")
    store.put_failure(other, Failure(stage=Stage.COMPILE, summary="no", text="long"), seconds=1.0, diagnostics="")
    store.write_resolution(resolution, {"flags": ["--x"], "facts": [["a", "b"]], "build_id": "b"})
    entries = [next((folder / "cache/v1/entries").rglob(one)) for one in (key, other)]

    def lookup(path: Path) -> None:
        found = Store(folder / "cache", max_bytes=1 << 30)
        outcome = found.lookup(path.name)
        if outcome is not None and outcome.artifact is not None:
            content = Path(outcome.artifact.path).read_bytes()
            if digest_of(content) != outcome.artifact.digest:
                msg = f"{path.name}: an artifact was served that is not what the entry says"
                raise AssertionError(msg)
        if found.notes:
            raise RetargetError("\n".join(found.notes))

    def resolved(path: Path) -> None:
        found = Store(folder / "cache", max_bytes=1 << 30)
        found.read_resolution(path.name)
        if found.notes:
            raise RetargetError("\n".join(found.notes))

    def sealed(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        if chance.random() < 0.2:
            return mutated(data, others, chance)
        text = mutated_json(data.partition(b"\n")[2], [one.partition(b"\n")[2] for one in others], chance)
        return digest_of(text).encode() + b"\n" + text

    source = folder / "m.mlir"
    source.write_text("module {}\n")
    config = CompilerConfig(name="c", compiler="iree", origin=Origin(file=folder / "suite.toml", key_path="x"))
    target = CompileTarget(
        name="m_c", suite="s", kind="check", folder=folder, module=Module(name="m", path=source), compiler=config,
        flags=("--x",), timeout=None, tags=(),
    )  # fmt: skip
    export_artifact(outcome, target, registry, folder / "exported")
    manifest = next((folder / "exported").rglob("*.json"))
    return [
        Kind(name="stored entries", files=entries, read=lookup, mutate=sealed, weight=2),
        Kind(
            name="stored resolutions",
            files=[next((folder / "cache/v1/resolutions").rglob(resolution))],
            read=resolved,
            mutate=sealed,
        ),
        Kind(
            name="carried artifacts",
            files=[manifest],
            read=lambda _: ArtifactFolder(folder / "exported").outcome(target),
            mutate=sealed,
            names_file=False,
        ),
    ]


def _bundles(folder: Path) -> list[Kind]:
    made, opened = folder / "bundles" / "m_vmvx", folder / "bundles" / "opened"
    (made / "cases").mkdir(parents=True)
    (made / "m.mlir").write_text("func.func @f() { return }\n")
    (made / "cases" / "0-input0.npy").write_bytes(b"\x93NUMPY" + bytes(100))
    write_json(
        Bundle(
            target="suite.toml::s::m_vmvx",
            toolchain="iree",
            observed=Observed(at="compile", stage="compile", signature="no such op"),
            reproduced=Reproduced(runs=1, same=1),
            compile=CompileStep(compiler="iree", source="m.mlir", flags=("--x={bundle}/y",), timeout=1.0),
        ),
        made,
    )
    archive = folder / "bundles" / "m.tar.zst"
    pack(made, archive)

    def unpacked(path: Path) -> None:
        try:
            unpack(path, opened)
        finally:
            shutil.rmtree(opened, ignore_errors=True)
        if left := [one for one in path.parent.iterdir() if one.name.startswith(".new-")]:
            msg = f"left behind: {left}"
            raise AssertionError(msg)

    packer = zstandard.ZstdCompressor().compressobj()
    bomb = b"".join(packer.compress(bytes(1 << 24)) for _ in range(64)) + packer.flush()  # a GiB

    def inside(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        draw = chance.random()
        if draw < 0.2:
            return mutated(data, others, chance)
        if draw < 0.21:  # what is small and becomes large
            return bomb
        plain = bytearray(zstandard.decompress(data, max_output_size=1 << 20))
        if draw < 0.7:
            return zstandard.compress(mutated(bytes(plain), [bytes(plain)], chance))
        at = chance.choice([at for at in range(0, len(plain), 512) if plain[at + 257 : at + 262] == b"ustar"])
        header = bytearray(plain[at : at + 512])  # a header that is whole, with another name, size or sort
        start, length = chance.choice(((0, 100), (124, 12), (156, 1), (157, 100), (345, 155), (257, 8)))
        word = chance.choice(
            (
                b"../x",
                b"/etc/x",
                b"m_vmvx/../../x",
                b"77777777777",
                b"00000000000",
                b"2",
                b"5",
                b"\x80" + b"\xff" * 11,
                b"m_vmvx/m.mlir",
                b"m_vmvx/M.MLIR",
                b"\xff\xfe",
                b"m_vmvx/a\x1b",
            )
        )
        header[start : start + length] = word[:length].ljust(length, b"\0")
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        plain[at : at + 512] = header
        return zstandard.compress(bytes(plain))

    return [
        Kind(name="bundles", files=[archive], read=unpacked, mutate=inside, weight=2),
        Kind(
            name="bundle.json",
            files=[made / "bundle.json"],
            read=lambda path: read_bundle(path.parent),
            mutate=mutated_json,
        ),
    ]


def sealed_opencl(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return an OpenCL artifact whose header is mutated and whose digest is right; a fifth are mutated as they are."""
    if chance.random() < 0.2:
        return mutated(data, others, chance)
    length = struct.unpack_from("<Q", data, 44)[0]
    header = mutated_json(data[52 : 52 + length], [data[52 : 52 + length]], chance)
    said = chance.choice((len(header), len(header), len(header), 0, 2**63, length))
    size, rest = struct.pack("<Q", said), header + data[52 + length :]
    return data[:12] + hashlib.sha256(size + rest[:said]).digest() + size + rest


def _opencl(folder: Path) -> Kind:
    function = Function(
        name="main", registers=3, parameters=(0,),
        constants=(Constant(register=1, kind="number", value=7), Constant(register=2, kind="float", value="0x1p+0")),
        blocks=((("scalar", "addi", "i32", 0, 0, 1), ("return", (0,))),),
    )  # fmt: skip
    program = Program(
        globals=(("counter", 3), ("table", None)),
        functions=(function,),
        initializers=(),
        exports=(Export(name="main", function=0, arguments=("i32",), results=("i32",)),),
        kernels=(Kernel(name="k", bindings=(0, 2), constants=(1,), workgroup_size=(32, 2, 1), groups=0),),
    )
    profile = compile_profile(Profile.find("opencl-cpu"))
    sources = (KernelSource(prelude="", text="__kernel void k() {}"),)
    data = write_artifact(
        OpenClArtifact(profile=profile, needs=("opencl.fp64",), sources=sources, program=program, blobs=(b"abc", b""))
    )
    path = folder / "m.oclx"
    path.write_bytes(data)

    def read(path: Path) -> None:
        content = path.read_bytes()
        try:
            read_artifact(content)
            show_artifact(content)
        except ArtifactError as error:  # the driver says whose
            raise RetargetError(str(error)) from error

    return Kind(name="OpenCL artifacts", files=[path], read=read, mutate=sealed_opencl, weight=2, names_file=False)


def _lease(folder: Path) -> Kind:
    leases = folder / "leases"
    holder = current_holder(["pytest"], "a session")
    with (held := DeviceLeases(leases, holder)).hold([Lease(physical_id="gpu", device="GPU", concurrency=2)]):
        slot = next(path for path in leases.iterdir() if path.suffix == ".0")
        slot.write_bytes(content := slot.read_bytes())
    held.close()
    slot.write_bytes(content)

    def read(path: Path) -> None:
        other = DeviceLeases(leases, holder)
        with other.hold([Lease(physical_id="gpu", device="GPU")]):
            pass
        other.close()

    return Kind(name="leases", files=[slot], read=read, mutate=mutated_json, names_file=False)
