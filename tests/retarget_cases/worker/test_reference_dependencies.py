"""What a reference may depend on, one row each: it is recorded, and its state is another one after a change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from retarget.arrays.dtypes import dtype_named
from retarget.support.dependencies import state_of
from retarget.support.errors import RetargetError
from retarget.worker.child.recorder import Recorder
from retarget_cases.worker.reference import References

TOP = "import os, sys\nfrom pathlib import Path\nimport numpy as np\nHERE = Path(__file__).parent\n"
LIB = "sys.path.insert(0, str(HERE / 'lib'))\n"
TRY = "try:\n    from helper import g\nexcept ImportError:\n    def g(x): return x\n"

Recorded = tuple[tuple[str, str, str], ...]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def once(value: str) -> str:
    return f"def g(x): return x * {value}\n"


def evaluated(folder: Path) -> tuple[float, Recorded]:
    recorder = Recorder(folder, [folder / "ref.py"])
    with recorder.watching():
        (result,) = References().call(folder / "ref.py", "f", [np.float32([1])])
    return float(np.asarray(result).reshape(-1)[0]), recorder.dependencies


def now(folder: Path, recorded: Recorded) -> Recorded:
    return tuple((sort, name, state_of(sort, name, folder, os.environ)) for sort, name, _ in recorded)


ROWS: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], object]]] = {
    "a module that it imports": (
        f"{LIB}from helper import g\ndef f(x): return g(x)\n",
        lambda at: write(at / "lib/helper.py", once("1")),
        lambda at: write(at / "lib/helper.py", once("2")),
    ),
    "a module whose name begins as ours do": (
        f"{LIB}from retarget_helper import g\ndef f(x): return g(x)\n",
        lambda at: write(at / "lib/retarget_helper.py", once("1")),
        lambda at: write(at / "lib/retarget_helper.py", once("2")),
    ),
    "a module of a package, imported in the call": (
        f"{LIB}def f(x):\n    from package.part import g\n    return g(x)\n",
        lambda at: write(at / "lib/package/part.py", once("1")),
        lambda at: write(at / "lib/package/part.py", once("2")),
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
        lambda at: write(at / "factor", "1"),
        lambda at: write(at / "factor", "2"),
    ),
    "an array that it loads": (
        "def f(x): return x * np.load(HERE / 'factor.npy')\n",
        lambda at: np.save(at / "factor.npy", np.float32(1)),
        lambda at: np.save(at / "factor.npy", np.float32(2)),
    ),
    "an array that it maps": (
        "def f(x): return x * np.fromfile(HERE / 'factor', np.float32)\n",
        lambda at: (at / "factor").write_bytes(np.float32(1).tobytes()),
        lambda at: (at / "factor").write_bytes(np.float32(2).tobytes()),
    ),
    "a file that it tries to read": (
        "def f(x):\n    try:\n        return len((HERE / 'two').read_text()) * x\n    except OSError: return x\n",
        lambda at: None,
        lambda at: write(at / "two", "22"),
    ),
    "a file that it asks for": (
        "def f(x): return x * 2 if os.path.exists(HERE / 'two') else x\n",
        lambda at: None,
        lambda at: write(at / "two", ""),
    ),
    "a folder that it lists": (
        "def f(x): return x * len(list((HERE / 'lib').iterdir()))\n",
        lambda at: write(at / "lib/one", ""),
        lambda at: write(at / "lib/two", ""),
    ),
    "a variable that it reads": (
        "def f(x): return x * float(os.environ['FACTOR'])\n",
        lambda at: os.environ.update(FACTOR="1"),
        lambda at: os.environ.update(FACTOR="2"),
    ),
    "a variable that it asks for": (
        "def f(x): return x * float(os.getenv('FACTOR_OF', '1'))\n",
        lambda at: None,
        lambda at: os.environ.update(FACTOR_OF="2"),
    ),
}


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FACTOR", "FACTOR_OF"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("variables")
@pytest.mark.parametrize("row", ROWS)
def test_what_a_reference_depends_on_is_recorded_and_another_after_a_change(tmp_path: Path, row: str) -> None:
    text, before, after = ROWS[row]
    (tmp_path / "ref.py").write_text(TOP + text)
    before(tmp_path)
    value, recorded = evaluated(tmp_path)
    assert value == 1
    assert now(tmp_path, recorded) == recorded
    after(tmp_path)
    assert now(tmp_path, recorded) != recorded
    again, other = evaluated(tmp_path)  # in the same process, which has imported the text of before
    assert (again, now(tmp_path, other)) == (2, other)


def test_a_reference_that_makes_its_inputs_writable_fails_and_they_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x, y):\n    x.setflags(write=True)\n    x[...] = 7\n    return x\n")
    inputs = [np.arange(4, dtype=np.float32).reshape(2, 2), np.float32(3)]
    with pytest.raises(RetargetError, match=r"ref.py:2: f raised ValueError: cannot set WRITEABLE flag"):
        References().call(path, "f", inputs)
    assert inputs[0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "bfloat16", "int4"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_inputs_of_every_type_and_shape_reach_a_reference_as_they_are(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x): return x\n")
    given = np.ones(shape, dtype_named(dtype))
    for array in (given, given.T):
        (got,) = References().call(path, "f", [array])
        assert isinstance(got, np.ndarray)
        assert (got.dtype, got.shape, got.tolist()) == (array.dtype, array.shape, array.tolist())
