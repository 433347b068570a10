"""What a reference may depend on, one row each: it is recorded, and its state is another one after a change."""

from __future__ import annotations

import importlib.util
import inspect
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from retarget.arrays import Elements
from retarget.support import RetargetError, dependencies, dependency_state
from retarget.support.dependencies import Recorder, recording
from retarget_cases.worker.reference import References, evaluate

TOP = "import os, sys\nfrom pathlib import Path\nimport numpy as np\nHERE = Path(__file__).parent\n"
LIB = "sys.path.insert(0, str(HERE / 'lib'))\n"
SITE = LIB.replace("lib", "site-packages")
LOAD = (
    "def f(x):\n    try:\n        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations({})\n"
    "    except ssl.SSLError:\n        return x * 2\n    except FileNotFoundError:\n        return x\n"
)
TRY = "try:\n    from helper import g\nexcept ImportError:\n    def g(x): return x\n"

Recorded = tuple[tuple[str, str, str], ...]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def once(value: str) -> str:
    return f"def g(x): return x * {value}\n"


def evaluated(folder: Path) -> tuple[float, Recorded]:
    with recording() as recorder:
        (result,) = References().call(folder / "ref.py", "f", [np.float32([1])])
    return float(np.asarray(result).reshape(-1)[0]), recorder.dependencies


def now(recorded: Recorded) -> Recorded:
    return tuple((sort, name, dependency_state(sort, name, os.environ)) for sort, name, _ in recorded)


Change = Callable[[Path], object]


def changed(path: str, before: str | None, after: str) -> tuple[Change, Change]:
    """Write a file, and write another text to it."""
    return lambda at: before is not None and write(at / path, before), lambda at: write(at / path, after)


def set_to(name: str, before: str | None, after: str) -> tuple[Change, Change]:
    """Set a variable, and set it again."""
    return (
        lambda _: before is not None and os.environ.update({name: before}),
        lambda _: os.environ.update({name: after}),
    )


ROWS: dict[str, tuple[str, Change, Change]] = {
    "a module that it imports": (
        f"{LIB}from helper import g\ndef f(x): return g(x)\n",
        *changed("lib/helper.py", once("1"), once("2")),
    ),
    "a module of a folder whose name is that of installed ones": (
        f"{SITE}from helper import g\ndef f(x): return g(x)\n",
        *changed("site-packages/helper.py", once("1"), once("2")),
    ),
    "a module beside it": (
        "sys.path.insert(0, str(HERE))\nfrom helper import g\ndef f(x): return g(x)\n",
        *changed("helper.py", once("1"), once("2")),
    ),
    "a module of the current folder": (
        "sys.path.insert(0, '')\nfrom helper import g\ndef f(x): return g(x)\n",
        *changed("helper.py", once("1"), once("2")),
    ),
    "a module whose name begins as ours do": (
        f"{LIB}from retarget_helper import g\ndef f(x): return g(x)\n",
        *changed("lib/retarget_helper.py", once("1"), once("2")),
    ),
    "a module of a package, imported in the call": (
        f"{LIB}def f(x):\n    from package.part import g\n    return g(x)\n",
        *changed("lib/package/part.py", once("1"), once("2")),
    ),
    "a package": (
        f"{LIB}from package import g\ndef f(x): return g(x)\n",
        *changed("lib/package/__init__.py", once("1"), once("2")),
    ),
    "a folder that becomes a package": (
        f"{LIB}import package\ndef f(x): return package.g(x) if hasattr(package, 'g') else x\n",
        lambda at: (at / "lib/package").mkdir(parents=True),
        lambda at: write(at / "lib/package/__init__.py", once("2")),
    ),
    "a module behind a path that is no text": (
        f"sys.path.insert(0, HERE)\n{LIB}from helper import g\ndef f(x): return g(x)\n",
        *changed("lib/helper.py", once("1"), once("2")),
    ),
    "a module that was not there on a path of that moment": (
        f"{LIB}{TRY}sys.path.pop(0)\ndef f(x): return g(x)\n",
        lambda at: write(at / "lib/other.py", ""),
        lambda at: write(at / "lib/helper.py", once("2")),
    ),
    "a module that is looked for by its name": (
        f"import importlib.util\n{LIB}def f(x): return x * (2 if importlib.util.find_spec('helper') else 1)\n",
        lambda at: write(at / "lib/other.py", ""),
        lambda at: write(at / "lib/helper.py", ""),
    ),
    "a module that was not there": (
        f"{LIB}{TRY}def f(x): return g(x)\n",
        lambda at: write(at / "lib/other.py", ""),
        lambda at: write(at / "lib/helper.py", once("2")),
    ),
    "a module that hides another": (
        "sys.path[:0] = [str(HERE / 'first'), str(HERE / 'lib')]\nfrom helper import g\ndef f(x): return g(x)\n",
        lambda at: write(at / "lib/helper.py", once("1")),
        lambda at: write(at / "first/helper.py", once("2")),
    ),
    "a file that it reads": (
        "def f(x): return x * np.float32((HERE / 'factor').read_text())\n",
        *changed("factor", "1", "2"),
    ),
    "an array that it maps": (
        "def f(x): return x * np.fromfile(HERE / 'factor', np.float32)\n",
        lambda at: (at / "factor").write_bytes(np.float32(1).tobytes()),
        lambda at: (at / "factor").write_bytes(np.float32(2).tobytes()),
    ),
    "a file that it tries to read": (
        "def f(x):\n    try:\n        return len((HERE / 'two').read_text()) * x\n    except OSError: return x\n",
        *changed("two", None, "22"),
    ),
    "a file that it asks for": (
        "def f(x): return x * 2 if os.path.exists(HERE / 'two') else x\n",
        *changed("two", None, ""),
    ),
    "a file that it asks for without following links": (
        "def f(x): return x * (2 if os.path.lexists(HERE / 'two') else 1)\n",
        *changed("two", None, ""),
    ),
    "a file that it asks for access to": (
        "def f(x): return x * (2 if os.access(HERE / 'two', os.R_OK) else 1)\n",
        *changed("two", None, ""),
    ),
    "a link that it follows": (
        "def f(x): return x * float((HERE / 'link').resolve().name)\n",
        lambda at: (at / "link").symlink_to("1"),
        lambda at: ((at / "link").unlink(), (at / "link").symlink_to("2")),
    ),
    "a file above what a link leads to": (
        "def f(x): return x * float((HERE / 'link' / '..' / 'factor').read_text())\n",
        lambda at: (write(at / "lib/factor", "1"), (at / "lib/part").mkdir(), (at / "link").symlink_to("lib/part")),
        lambda at: write(at / "lib/factor", "2"),
    ),
    "a file that C code opens": (
        f"import ssl\n{LOAD.format('str(HERE / str(2))')}",
        *changed("2", None, "no certificate"),
    ),
    "a file that C code opens, by a path of os.path": (
        f"import ssl\n{LOAD.format('os.path.join(os.path.dirname(__file__), str(2))')}",
        *changed("2", None, "no certificate"),
    ),
    "what is a folder in one that it lists": (
        "def f(x): return x * (1 + sum(one.is_dir() for one in os.scandir(HERE / 'lib')))\n",
        lambda at: write(at / "lib/one", ""),
        lambda at: ((at / "lib/one").unlink(), (at / "lib/one").mkdir()),
    ),
    "the current folder, which it lists": (
        "def f(x): return x * len([one for one in os.listdir() if one.startswith('part')])\n",
        lambda at: write(at / "part1", ""),
        lambda at: write(at / "part2", ""),
    ),
    "files that match a pattern": (
        "import glob\ndef f(x): return x * len(glob.glob(f'{HERE}/part*'))\n",
        lambda at: write(at / "part1", ""),
        lambda at: write(at / "part2", ""),
    ),
    "a folder that it lists": (
        "def f(x): return x * len(list((HERE / 'lib').iterdir()))\n",
        lambda at: write(at / "lib/one", ""),
        lambda at: write(at / "lib/two", ""),
    ),
    "a variable that it reads": ("def f(x): return x * float(os.environ['FACTOR'])\n", *set_to("FACTOR", "1", "2")),
    "a variable that it gets": (
        "def f(x): return x * float(os.environ.get('FACTOR_OF', '1'))\n",
        *set_to("FACTOR_OF", None, "2"),
    ),
    "a variable that it looks for": (
        "def f(x): return x * (2 if 'FACTOR_OF' in os.environ else 1)\n",
        *set_to("FACTOR_OF", None, "2"),
    ),
    "a variable that it reads as bytes": (
        "def f(x): return x * float(os.environb[b'FACTOR'])\n",
        *set_to("FACTOR", "1", "2"),
    ),
}

UNSEEN = {
    "a process": "import subprocess\ndef f(x):\n    subprocess.run(['true'])\n    return x\n",
    "a process of another sort": (
        "import multiprocessing.util as util\n"
        "def f(x):\n    os.waitpid(util.spawnv_passfds(b'/bin/true', [b'true'], []), 0)\n    return x\n"
    ),
    "a shell": "def f(x):\n    os.system('true')\n    return x\n",
    "a socket": "import socket\ndef f(x):\n    socket.socket().close()\n    return x\n",
    "a library": "import ctypes\ndef f(x):\n    ctypes.CDLL(None)\n    return x\n",
    "all variables": "def f(x): return x * (1 if dict(os.environ) else 2)\n",
    "how many variables there are": "def f(x): return x * (1 if len(os.environ) else 2)\n",
    "the text of all variables": "def f(x): return x * (1 if str(os.environ) else 2)\n",
    "variables as Python got them": "import posix\ndef f(x): return x * (1 if dict(posix.environ) else 2)\n",
    "a file that it writes": "def f(x):\n    (HERE / 'out').write_text('')\n    return x\n",
    "a folder by its descriptor": "def f(x):\n    at = os.open(HERE, os.O_RDONLY)\n    os.listdir(at)\n    return x\n",
    "what a package did that stays": f"{SITE}import talks\ndef f(x): return x\n",
}


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FACTOR", "FACTOR_OF"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.sampled(12)
@pytest.mark.usefixtures("variables")
@pytest.mark.parametrize("row", ROWS)
def test_what_a_reference_depends_on_is_recorded_and_another_after_a_change(cwd: Path, row: str) -> None:
    text, before, after = ROWS[row]
    (cwd / "ref.py").write_text(TOP + text)
    before(cwd)
    path, modules = [*sys.path], {*sys.modules}
    value, recorded = evaluated(cwd)
    assert sys.path == path
    assert not [one for one in sys.modules.keys() - modules if "helper" in one or "package" in one]
    assert value == 1
    assert now(recorded) == recorded
    after(cwd)
    assert now(recorded) != recorded
    again, other = evaluated(cwd)  # in the same process, which has imported the text of before
    assert (again, now(other)) == (2, other)


@pytest.fixture
def fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package outside site-packages with a C module, which a process cannot load twice."""
    found = importlib.util.find_spec("markupsafe._speedups")  # those of Python itself are built in on some systems
    assert found is not None
    assert found.origin is not None
    (folder := tmp_path / "lib/fast").mkdir(parents=True)
    shutil.copy(found.origin, folder)
    (folder / "__init__.py").write_text("from fast import _speedups\nFACTOR = 1\n")
    monkeypatch.setattr(Recorder, "_staying", {})
    yield folder
    for name in [one for one in sys.modules if one.partition(".")[0] == "fast"]:
        del sys.modules[name]


@pytest.mark.parametrize("row", UNSEEN)
def test_what_nothing_can_be_said_of_is_recorded_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    monkeypatch.setattr(Recorder, "_staying", {})
    monkeypatch.setattr(dependencies, "_INSTALLED", f"{tmp_path}/site-packages/")
    write(tmp_path / "site-packages/talks.py", "import socket\nsocket.socket().close()\n")
    (tmp_path / "ref.py").write_text(TOP + UNSEEN[row])
    for _ in range(2):
        _, recorded = evaluated(tmp_path)
        assert ("unseen", "", "") in recorded
    sys.modules.pop("talks", None)


def test_what_a_reference_writes_is_no_dependency_and_what_it_reads_besides_is(tmp_path: Path, fast: Path) -> None:
    body = "def f(x):\n    log = HERE / 'log.txt'\n    log.write_text(log.read_text() + 'x')\n    return x\n"
    write(tmp_path / "log.txt", "")
    (tmp_path / "ref.py").write_text(TOP + body)
    _, recorded = evaluated(tmp_path)
    names = {name for sort, name, _ in recorded if sort == "path"}
    assert str(tmp_path / "ref.py") in names
    assert str(tmp_path / "log.txt") not in names
    assert ("unseen", "", "") in recorded


def test_a_package_with_a_c_module_stays_and_what_was_read_while_it_was_imported_counts_for_all(
    tmp_path: Path, fast: Path
) -> None:
    (fast / "table").write_text("1")
    init = "from pathlib import Path\nFACTOR = float((Path(__file__).parent / 'table').read_text())\n"
    (fast / "__init__.py").write_text(f"from fast import _speedups\n{init}")
    (tmp_path / "ref.py").write_text(f"{TOP}{LIB}import fast\ndef f(x): return x * fast.FACTOR\n")
    for _ in range(2):
        value, recorded = evaluated(tmp_path)
        assert value == 1
        assert {("path", str(path)) for path in fast.iterdir() if path.is_file()} <= {one[:2] for one in recorded}
    (fast / "table").write_text("2")
    assert now(recorded) != recorded
    _, recorded = evaluated(tmp_path)  # this process has what was there
    assert now(recorded) != recorded


def test_what_is_installed_counts_for_references_and_for_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (info := tmp_path / "thing-1.dist-info").mkdir()
    states = set()
    monkeypatch.syspath_prepend(tmp_path)
    for text in ("a.py,sha256=1,1", "a.py,sha256=2,1"):  # of one version
        (info / "RECORD").write_text(text)
        dependencies._installed.cache_clear()
        monkeypatch.setattr(Recorder, "_staying", {})  # what is installed does not change while a process runs
        (tmp_path / "m.onnx").write_bytes(b"none")
        with recording() as recorder, pytest.raises(RetargetError, match="onnx cannot evaluate"):
            evaluate(tmp_path / "m.onnx", "onnx", (), ())
        states |= {one for one in recorder.dependencies if one[0] == "installed"}
    dependencies._installed.cache_clear()
    assert len(states) == 2


def test_what_is_no_onnx_model_is_not_evaluated(tmp_path: Path) -> None:
    with pytest.raises(RetargetError, match=r"m.txt is none; expected 'file.py:function'$"):
        evaluate(tmp_path / "m.txt", "onnx", (), ())


def test_a_reference_that_makes_its_inputs_writable_fails_and_they_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x, y):\n    x.setflags(write=True)\n    x[...] = 7\n    return x\n")
    inputs = [np.arange(4, dtype=np.float32).reshape(2, 2), np.float32(3)]
    with pytest.raises(RetargetError, match=r"ref.py:2: f raised ValueError: cannot set WRITEABLE flag"):
        References().call(path, "f", inputs)
    assert inputs[0].tolist() == [[0, 1], [2, 3]]


def test_what_a_library_writes_to_the_address_of_an_input_stays_with_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("import ctypes\ndef f(x):\n    ctypes.memset(x.ctypes.data, 0, x.nbytes)\n    return x\n")
    given = np.ones(3, np.float32)
    (returned,) = References().call(path, "f", [given])
    assert (np.asarray(returned).tolist(), given.tolist()) == ([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "bfloat16", "int4"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_inputs_of_every_type_and_shape_reach_a_reference_as_they_are(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x): return x\n")
    given = np.ones(shape, Elements.named(dtype).dtype)
    for array in (given, given.T):
        (got,) = References().call(path, "f", [array])
        assert isinstance(got, np.ndarray)
        assert (got.dtype, got.shape, got.tolist()) == (array.dtype, array.shape, array.tolist())


def state() -> tuple[object, ...]:
    return str(Path.cwd()), os.environ.get("KNOB"), np.geterr()["divide"], warnings.filters[0][0]


def test_what_a_reference_sets_in_its_process_stays_for_itself_alone(tmp_path: Path) -> None:
    top = f"import warnings\n{TOP}{inspect.getsource(state)}"
    sets = "os.chdir(HERE)\nos.environ['KNOB'] = '1'\nnp.seterr(divide='call')\nwarnings.simplefilter('always')\n"
    write(
        tmp_path / "sets.py",
        f"{top}{sets}def f():\n    there = os.getcwd()\n    os.chdir('/')\n    return [(there, state())]\n",
    )
    write(tmp_path / "other.py", f"{top}def f(): return [state()]\n")
    before, references = state(), References()
    for _ in range(2):
        (returned,) = references.call(tmp_path / "sets.py", "f", ())
        assert returned == (str(tmp_path), ("/", "1", "call", "always"))
        assert references.call(tmp_path / "other.py", "f", ()) == (before,) == (state(),)
