"""Reproduces one failure of a compiler or of a device, and says whether it still occurs.

    python3 repro.py [--compile-only | --run-only] [--device URI]... [--toolchain PATH] [--timeout SECONDS]

`bundle.json` says what is compiled and run, with which flags, and what failed where the bundle was written. Needs
Python 3.11 or later and the packages of compiler and runtime: for IREE `iree-base-compiler` and `iree-base-runtime`,
with NumPy and ml_dtypes, which that one requires, and neither pytest nor retarget; for other compilers and drivers,
which are extensions of retarget, that package and theirs.

The compile and the run are a process each, so that a crash or a hang is seen. The signature of a failure is its first
diagnostic without what changes from run to run; `lib/` holds the code that computes it and that compares arrays.

Exit status, as `git bisect run` takes it:

    0    good: the failure does not occur
    1    bad: it fails at the same stage with the same signature
    125  cannot tell: it fails otherwise, something is missing here, or an option is wrong
    130  it was interrupted, which ends a bisect
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from retarget.model import Failure

HERE = Path(__file__).resolve().parent
GOOD, BAD, CANNOT_TELL = 0, 1, 125
_PLACES = ("tools", "bin", "lib", ".")
"""Where in a build folder, or in what one was installed to, tools may be."""


class CannotTell(Exception):  # noqa: N818  (it is the verdict)
    """Why nothing can be said of the failure."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End with a status that `git bisect run` does not take for the failure."""
        self.print_usage(sys.stderr)
        print(f"cannot tell: {message}")
        sys.exit(CANNOT_TELL)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of seconds above 0")
    return number


def main() -> int:
    """Reproduce and print the verdict. Return the exit status, also where something goes wrong that nobody foresaw."""
    options = _options()
    if options.step:
        _step(_bundle(options), options)
    try:
        return _verdict(_bundle(options), options)
    except CannotTell as reason:
        print(f"cannot tell: {reason}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except Exception as error:
        print(f"cannot tell: {type(error).__name__}: {error}")
    return CANNOT_TELL


def _options() -> argparse.Namespace:
    parser = _Parser(prog="repro.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--compile-only", action="store_true", help="compile and do not run")
    part.add_argument("--run-only", action="store_true", help="run the artifact that is in the bundle")
    parser.add_argument(
        "--device", action="append", default=[], metavar="URI", help="run there: local-task, vulkan://GPU-…; repeat"
    )
    parser.add_argument("--toolchain", type=Path, metavar="PATH", help="pip install --target=PATH, or a build folder")
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="for the compile, and for the run")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _bundle(options: argparse.Namespace) -> Mapping[str, Any]:
    """Return what `bundle.json` says, and have the code of the bundle and of the toolchain imported from now on."""
    bundle: Mapping[str, Any] = json.loads((HERE / "bundle.json").read_bytes())
    _import_from(bundle, options.toolchain)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    return bundle


def _verdict(bundle: Mapping[str, Any], options: argparse.Namespace) -> int:
    """Reproduce, and print what came of it. Raises `CannotTell`."""
    wanted = bundle["observed"]
    if options.toolchain is not None and not options.toolchain.is_dir():
        raise CannotTell(f"--toolchain: found no folder {options.toolchain}")
    with tempfile.TemporaryDirectory(prefix="repro-") as scratch:
        ways = _ways(_attempt(bundle, options, Path(scratch)))
    expected = (wanted["at"], wanted["stage"], wanted["signature"])
    if expected in ways:
        print(f"bad: {_words(*expected)}")
        print(f"     {ways[expected]}")
        return BAD
    if ways:
        print(f"cannot tell: another failure: {'; '.join(_words(*way) for way in ways)}")
        print(f"     {next(iter(ways.values()))}")
        print(f"expected: {_words(*expected)}")
        return CANNOT_TELL
    if options.compile_only and wanted["at"] != "compile":
        print(f"cannot tell: it compiles; the failure comes later, which needs a run: {_words(*expected)}")
        return CANNOT_TELL
    print(f"good: it does not fail; expected: {_words(*expected)}")
    return GOOD


def _words(at: str, stage: str, signature: str) -> str:
    where = stage if stage == at else f"{stage} ({at})"
    return f"{where}: {signature}" if signature else where


def _ways(failures: Sequence[Failure]) -> dict[tuple[str, str, str], str]:
    """Return the ways in which it failed, each with the first message."""
    found: dict[tuple[str, str, str], str] = {}
    for failure in failures:
        way = failure.observation
        found.setdefault((str(failure.stage), way.stage, way.signature), failure.summary)
    return found


def _import_from(bundle: Mapping[str, Any], toolchain: Path | None) -> None:
    """Have packages imported from the toolchain, then from the bundle, then from the environment."""
    if bundle["toolchain"] == "iree":
        sys.path.insert(0, str(HERE / "lib"))
    elif importlib.util.find_spec("retarget") is None:
        raise CannotTell("this bundle needs the package retarget, which compiles or runs it: pip install retarget")
    if toolchain is not None:
        sys.path[:0] = [str(folder) for part in ("compiler", "runtime") for folder in _packages(toolchain, part)]


def _packages(toolchain: Path, part: str) -> list[Path]:
    """Return where a toolchain has the Python package of the compiler or of the runtime: at most one place."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    patterns = (f"lib*/{python}/site-packages", f"{part}/bindings/python")
    places = [toolchain, *(place for pattern in patterns for place in sorted(toolchain.glob(pattern)))]
    return [place.absolute() for place in places if (place / "iree" / part / "__init__.py").is_file()][:1]


# ---------------------------------------------------------------- compile, load, run, compare


def _attempt(bundle: Mapping[str, Any], options: argparse.Namespace, scratch: Path) -> list[Failure]:
    """Compile and run. Return all failures, none where it passes."""
    artifact = scratch / "artifact"
    if options.run_only:
        if not bundle["artifact"]:
            raise CannotTell("the bundle holds no artifact to run: its module did not compile")
        own = options.toolchain if bundle["toolchain"] == "iree" else None
        if own is not None and not _packages(own, "runtime"):
            raise CannotTell(f"--toolchain: found no iree/runtime in {own}; pip install iree-base-runtime")
        artifact = HERE / bundle["artifact"]
    else:
        step = bundle["compile"]
        if bundle["toolchain"] == "iree":
            failures = _compile(step, options, artifact)
        else:
            failures = _child(options, "compile", step, artifact, "compile")
        if failures:
            return failures
    if options.compile_only or not bundle.get("run"):
        return []
    by_packages = bundle["toolchain"] == "iree"  # else it is seen when its device is opened
    if by_packages and options.toolchain is not None and not _packages(options.toolchain, "runtime"):
        print(f"running with this environment's runtime: found no iree/runtime in {options.toolchain}", flush=True)
    return _child(options, "run", bundle["run"], artifact, "load")


def _compile(step: Mapping[str, Any], options: argparse.Namespace, artifact: Path) -> list[Failure]:
    """Compile with `iree-compile`. Return why it did not; nothing where it did."""
    from retarget.model import Failure, Stage
    from retarget_iree.noise import clean_diagnostics, first_error, is_verdict

    source = HERE / step["source"]
    env = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1", **step["env"]}
    limit = options.timeout or step["timeout"]
    if source.suffix == ".onnx":
        imported = artifact.with_name(f"{source.stem}.mlir")
        argv = [sys.executable, __file__, *_passed(options), "--step", "import", str(imported)]
        status, text = _finished(argv, source.parent, env, limit)
        last = text.strip().rpartition("\n")[2]
        if status is None or "ModuleNotFoundError" in last:
            raise CannotTell(f"the model is not imported: {last or 'it takes too long'}")
        if status:
            said = last.partition(": ")[2] or last
            summary = f"{source.name}: the ONNX importer refused the model: {said}"
            return [Failure(stage=Stage.COMPILE, summary=summary)]
        source = imported
    tool = _iree_compile(options.toolchain)
    print(f"compiling with {tool}", flush=True)
    name = f"./{source.name}" if source.name.startswith("-") else source.name  # else it would be an option
    flags = [flag.replace("{bundle}", str(HERE)) for flag in step["flags"]]
    argv = [str(tool), name, *flags, "-o", str(artifact)]
    status, text = _finished(argv, source.parent, env, limit)
    if status == 0 and not artifact.is_file():
        raise CannotTell("the compiler ended without an error and wrote no artifact")
    if status == 0:
        return []
    if status is None:
        return [Failure(stage=Stage.COMPILE, summary=f"compile timed out after {limit:g} s", timed_out=True)]
    if status < 0:
        name = _signal(-status)
        return [Failure(stage=Stage.COMPILE, summary=f"compiler crashed: {name}", signal=name)]
    diagnostics = clean_diagnostics(text)
    error = first_error(diagnostics)
    if not error or not is_verdict(diagnostics):
        said = error or text.strip().rpartition("\n")[2] or f"exit status {status}"
        raise CannotTell(f"the compiler says nothing of the module: {said}")
    return [Failure(stage=Stage.COMPILE, summary=error)]


def _iree_compile(toolchain: Path | None) -> Path:
    """Return the compiler of a toolchain, of the installed package, or on PATH."""
    name = "iree-compile"
    packages = _packages(toolchain, "compiler") if toolchain is not None else []
    if toolchain is None and (found := importlib.util.find_spec("iree")) is not None:
        packages = [Path(place).parent for place in found.submodule_search_locations or ()]
    places = [package / "iree" / "compiler" / "_mlir_libs" for package in packages]
    places += [] if toolchain is None else [toolchain.absolute() / place for place in _PLACES]
    for place in places:
        if (place / name).is_file():
            return place / name
    on_path = shutil.which(name) if toolchain is None else None
    if on_path is None:
        raise CannotTell(f"found no {name} in {toolchain or 'this environment'}; pip install iree-base-compiler")
    return Path(on_path)


# ---------------------------------------------------------------- processes


def _finished(argv: Sequence[str], folder: Path, env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
    """Run a command to its end. Return its exit status, None where it was killed after `limit` seconds, and what it
    printed to its standard error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        errors.seek(0)
        return status, errors.read().decode("utf-8", "replace")


def _passed(options: argparse.Namespace) -> list[str]:
    """Return the options that the processes of the steps get, too."""
    devices = [f"--device={uri}" for uri in options.device]
    return [*devices, *([] if options.toolchain is None else [f"--toolchain={options.toolchain.absolute()}"])]


def _child(options: argparse.Namespace, step: str, what: Mapping[str, Any], artifact: Path, at: str) -> list[Failure]:
    """Do a step in a process of its own, which writes where it is to a file. Return its failures."""
    from retarget.model import Failure, Stage

    limit = options.timeout or what["timeout"]
    with tempfile.TemporaryDirectory(prefix="repro-") as folder:
        notes = Path(folder) / "notes"
        isolated = ["-I"] if sys.flags.isolated else []
        argv = [sys.executable, *isolated, str(Path(__file__)), *_passed(options), "--step", step, str(artifact)]
        status, errors = _finished(argv, HERE, {**os.environ, **what["env"], "REPRO_NOTES": str(notes)}, limit)
        written = [json.loads(line) for line in notes.read_text().splitlines()] if notes.is_file() else []
    failures, case = [], ""
    for note in written:
        if note.get("cannot_tell"):
            raise CannotTell(note["cannot_tell"])
        if said := note.get("said"):
            if options.run_only:
                raise CannotTell(f"--toolchain: {said}")
            print(f"running with this environment's runtime: {said}", flush=True)
        at, case = note.get("at", at), note.get("case", case)
        if "failure" in note:
            stage = Stage(note["failure"][0])
            failures.append(Failure(stage=stage, summary=note["failure"][1], signal=note.get("signal", "")))
    where = f" in {case!r}" if case else ""
    if status is None:
        failures.append(Failure(stage=Stage(at), summary=f"timed out after {limit:g} s{where}", timed_out=True))
    elif status < 0:
        name = _signal(-status)
        failures.append(Failure(stage=Stage(at), summary=f"crashed: {name}{where}", signal=name))
    elif status > 0:
        raise CannotTell(errors.strip().rpartition("\n")[2] or f"exit status {status}")
    elif not failures and not any("end" in note for note in written):
        raise CannotTell(f"the process ended with status 0 before the step {step!r} did")
    return failures


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _note(**what: Any) -> None:
    """Tell the process that started this one, before anything can crash."""
    with Path(os.environ["REPRO_NOTES"]).open("a") as file:
        file.write(json.dumps(what) + "\n")


def _step(bundle: Mapping[str, Any], options: argparse.Namespace) -> NoReturn:
    """Do one step, and end: the libraries that were loaded may crash when they are unloaded."""
    step, path = options.step
    if step == "import":
        from iree.compiler.tools.import_onnx import __main__ as importer

        importer.main(importer.parse_arguments([str(HERE / bundle["compile"]["source"]), "-o", path]))
    else:
        try:
            if step == "run":
                _run(bundle, options, Path(path))
            else:
                from retarget_repro.bundle.archive import compile_module

                compile_module(bundle, HERE, Path(path), _note, options.toolchain)
            _note(end=True)
        except CannotTell as reason:
            _note(cannot_tell=str(reason))
        except Exception as error:
            _note(cannot_tell=f"{type(error).__name__}: {error}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


# ---------------------------------------------------------------- the step `run`


def _run(bundle: Mapping[str, Any], options: argparse.Namespace, artifact: Path) -> None:
    """Load the artifact and run its cases, also after one has failed."""
    from retarget.arrays import mismatches_of
    from retarget.extension import Check, DriverError, Tolerance

    run = bundle["run"]
    if (given := len(options.device)) and given != len(run["devices"] or options.device):
        raise CannotTell(f"--device: found {given}, expected one for each device of the bundle, {len(run['devices'])}")
    if bundle["toolchain"] == "iree":
        device, config = _open(run, options.device), None
    else:
        from retarget_repro.bundle.archive import open_devices

        device, config = open_devices(run, options.device, _note, options.toolchain)
    content = json.loads((HERE / "cases" / "cases.json").read_bytes())
    parameters = [(scope, HERE / "cases" / file) for scope, file in content["parameters"]]
    _note(at="load")
    try:
        data = artifact.read_bytes()
        program = device.load_with_parameters(data, parameters) if parameters else device.load(data)
        _ = program.functions
    except DriverError as error:
        _failed("load", error)
        return
    if content["cases"] == []:
        _note(failure=["load", "the module has no functions to run"])
    for case in content["cases"] or ():
        inputs = [_array(entry) for entry in case["inputs"]]
        expected = None if case["expected"] is None else [_array(entry) for entry in case["expected"]]
        tolerances = {name: Tolerance(**one) for name, one in case["tolerances"].items()}
        _note(at="run", case=case["name"])
        checks: list[Check] = []
        try:
            results = program.call(case["function"], inputs, checks.append)
            is_asked = config is not None and any(one is not None for one in config.used)
            work = zip((one.uri for one in device.infos), program.last_work(), strict=True) if is_asked else ()
        except DriverError as error:
            _failed("run", error)
            continue
        _note(at="compare")
        for mismatch in mismatches_of(checks, results, expected, tolerances)[:1]:
            _note(failure=["compare", mismatch.summary])
        if case["must_check"] and not checks:
            lacking = " made no check" if expected is None else ": 0 results to compare, expected 1 or more"
            _note(failure=["compare", f"function {case['function']!r}{lacking}"])
        if config is not None and (said := config.misplaced([*work])):
            _note(failure=["run", said])


def _failed(stage: str, error: Any) -> None:
    """Tell what a driver says: its first line counts, as in a run of the suite."""
    from retarget.support import first_line

    text = first_line(str(error), "the driver failed without a word")
    _note(failure=[str(error.stage or stage), text], signal=error.signal)


def _array(entry: Mapping[str, str] | None) -> Any:
    """Return the array in a file, with the element type that `.npy` may not know."""
    import numpy as np
    from retarget.arrays import Elements

    if entry is None:
        return None
    array = np.load(HERE / "cases" / entry["file"], allow_pickle=False)
    dtype = Elements.named(entry["dtype"]).dtype
    return array if array.dtype == dtype else array.view(dtype)


def _open(run: Mapping[str, Any], uris: Sequence[str]) -> Any:
    """Open the devices of the bundle, or those of the command line, with IREE's runtime."""
    import iree.runtime as rt
    from iree.runtime import flags
    from retarget.model import DeviceInfo
    from retarget_iree.runtime.program import IreeDevice

    for flag in run["flags"]:
        flags.parse_flags(flag)
    opened, infos = [], []
    for ordinal, wanted in enumerate([{"uri": uri, "name": ""} for uri in uris] or run["devices"]):
        driver_name, _, path = wanted["uri"].partition("://")
        path, mark, parameters = path.partition("?")
        try:
            driver = rt.get_driver(driver_name)
            records = [dict(record) for record in driver.query_available_devices()]
        except (RuntimeError, ValueError, OSError) as error:
            raise CannotTell(f"the driver {driver_name} has no device here: {str(error).strip()}") from error
        fitting = [one for one in records if not path or path == one["path"]]
        fitting = fitting or [one for one in records if wanted["name"] and wanted["name"] == one["name"]]
        if not fitting:
            there = ", ".join(f"{driver_name}://{one['path']} ({one['name']})" for one in records) or "none"
            asked = f"{wanted['uri']} {wanted['name']}".strip()
            raise CannotTell(f"found no device {asked}; there are: {there}; --device names another")
        uri = f"{driver_name}://{fitting[0]['path']}"
        try:
            by_uri = driver.create_device_by_uri
            opened.append(by_uri(f"{uri}?{parameters}") if mark else driver.create_device(fitting[0]))
        except (RuntimeError, ValueError, OSError) as error:
            raise CannotTell(f"the device {uri} does not open: {str(error).strip()}") from error
        infos.append(
            DeviceInfo(driver=driver_name, uri=uri, ordinal=ordinal, name=str(fitting[0]["name"]), physical_id=uri)
        )
    return IreeDevice(opened, infos)


if __name__ == "__main__":
    sys.exit(main())
