"""Calls the Python functions that compute what is expected. Runs in worker processes.

A file is executed under a unique name, afresh for each module whose cases name it; nothing of it is written back, and
its folder is not put on the path of imports.

ONNX models evaluated by ONNX Runtime, or by the evaluator of the package onnx. Runs in worker processes.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from retarget.extension import UnavailableError, watched
from retarget.support import RetargetError, did_you_mean, display_path, install_hint

if TYPE_CHECKING:
    from retarget.extension import Array


_State = tuple[Path, dict[str, str], Sequence[Any], Any]
"""The current folder, the environment, the filters of warnings, and NumPy's handling of errors."""


class _Loader(SourceFileLoader):
    """Loads the text of a file as it is now, and leaves no bytecode beside it."""

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class References(Struct, frozen=True):
    """The reference files of one module's cases, each executed once. What one sets in its process (the current folder,
    variables, filters of warnings, NumPy's handling of errors) it finds again, and nobody else does."""

    _modules: dict[Path, ModuleType] = field(default_factory=dict)
    _left: dict[Path, _State] = field(default_factory=dict)

    def call(self, path: Path, function: str, inputs: Sequence[Array]) -> tuple[object, ...]:
        """Return the results of the file's `function` for `inputs`, which it cannot change: one value per result.

        Raises `RetargetError` for a file that cannot be executed, a missing function, and what it raises, with the
        location in the file.
        """
        shown = display_path(path)
        with self._apart(path), watched():
            module = self._module(path, shown)
            called = getattr(module, function, None)
            if not callable(called):
                known = sorted(
                    one for one, value in vars(module).items() if callable(value) and not one.startswith("_")
                )
                has = f"it has: {', '.join(known) or 'none'}{did_you_mean(function, known)}"
                msg = f"{shown} has no function {function!r}; {has}"
                raise RetargetError(msg)
            try:
                with contextlib.chdir(Path.cwd()):  # each call starts in the same folder
                    returned = called(*(_read_only(array) for array in inputs))
            except (Exception, SystemExit) as error:
                raise _failed(error, path, shown, f"{function} raised") from error
        if returned is None:
            msg = f"{function} of {shown} returned None, expected an array, or a tuple of one per result"
            raise RetargetError(msg)
        return tuple(returned) if isinstance(returned, tuple | list) else (returned,)

    @contextlib.contextmanager
    def _apart(self, path: Path) -> Iterator[None]:
        before = _state()
        with warnings.catch_warnings():
            _set(self._left.get(path, before))
            try:
                yield
            finally:
                with contextlib.suppress(FileNotFoundError):  # it may have left a folder that is gone
                    self._left[path] = _state()
                _set(before)

    def _module(self, path: Path, shown: str) -> ModuleType:
        if path in self._modules:
            return self._modules[path]
        name = f"_retarget_reference_{hashlib.sha256(bytes(path)).hexdigest()[:16]}"
        loader = _Loader(name, str(path))
        spec: Any = importlib.util.spec_from_file_location(name, path, loader=loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        try:
            loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise _failed(error, path, shown, "importing it raised") from error
        self._modules[path] = module
        return module


def _state() -> _State:
    return Path.cwd(), os.environ.copy(), [*warnings.filters], np.geterr()


def _set(state: _State) -> None:
    folder, env, warnings.filters, errors = state
    os.chdir(folder)
    for name in os.environ.keys() - env.keys():
        del os.environ[name]
    os.environ.update(env)
    np.seterr(**errors)


def _read_only(array: Array) -> Array:
    """Return a copy that cannot be made writable. A library that is given its address writes to it all the same, and
    not to what the device is going to get."""
    if not array.size:
        return np.array(array)
    return np.frombuffer(array.tobytes(), np.uint8).view(array.dtype).reshape(np.shape(array))


def _failed(error: BaseException, path: Path, shown: str, what: str) -> RetargetError:
    """Return the error that names the last location in `path` on the way to what raised, and shows the line."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        location, line = f"{shown}:{error.lineno}", (error.text or "").strip()
        message = error.msg
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        location = f"{shown}:{frames[-1].lineno}" if frames else shown
        line = (frames[-1].line or "").strip() if frames else ""
        message = str(error).strip()
    summary = f"{location}: {what} {type(error).__name__}" + (f": {message}" if message else "")
    return RetargetError(f"{summary}\n    {line}" if line else summary)


_ERRORS_ONLY = 3
"""The level of ONNX Runtime's log, which goes to the worker's."""


def expect_evaluator(package: str) -> None:
    """Raise `UnavailableError` where the package that evaluates models is not installed."""
    if importlib.util.find_spec(package) is None:
        reason = f"the package {package}, which computes what models are expected to return, is not installed"
        raise UnavailableError(reason, hint=install_hint("models" if package == "onnxruntime" else "onnx"))


def evaluate(model: Path, package: str, names: Sequence[str], inputs: Sequence[Array]) -> tuple[object, ...]:
    """Return the outputs of a model for the inputs of those names, in order.

    Raises `RetargetError` for a model that the package cannot evaluate.
    """
    if model.suffix != ".onnx":
        msg = f"{package} evaluates ONNX models, and {display_path(model)} is none; expected 'file.py:function'"
        raise RetargetError(msg)
    feeds = dict(zip(names, (np.asarray(array) for array in inputs), strict=True))
    try:
        with watched():
            if package == "onnx":
                from onnx.reference import ReferenceEvaluator

                return tuple(ReferenceEvaluator(str(model)).run(None, feeds))
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.log_severity_level = _ERRORS_ONLY
            # As the model is written.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            return tuple(session.run(None, feeds))
    except Exception as error:  # of many types, those of ONNX Runtime without stubs
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        other = "onnxruntime" if package == "onnx" else "onnx"
        msg = f"{package} cannot evaluate {display_path(model)}: {reason}; try reference = {other!r}"
        raise RetargetError(msg) from error
