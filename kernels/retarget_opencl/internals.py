"""All non-public parts of pyopencl that are used. Checked with pyopencl 2025.1 and 2026.1.4, by the tests."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyopencl as cl

_GENERATING = threading.Lock()


def kernel_object(program: cl.Program, name: str) -> cl.Kernel:
    """Return a program's kernel without the functions that pyopencl generates to call it with all arguments at once:
    that takes longer than the driver takes to make the kernel. Here arguments are set one by one."""
    import pyopencl as cl
    from pyopencl import invoker

    if not hasattr(invoker, "generate_enqueue_and_set_args"):  # a later pyopencl, which costs what it costs
        return cl.Kernel(program, name)
    with _GENERATING:
        generate = invoker.generate_enqueue_and_set_args
        invoker.generate_enqueue_and_set_args = lambda *_, **__: (None, None)
        try:
            return cl.Kernel(program, name)
        finally:
            invoker.generate_enqueue_and_set_args = generate


def bytes_setter(kernel: cl.Kernel) -> Any:
    """Return what sets an argument to bytes: the public function tries for 7 µs what an argument may be."""
    return kernel._set_arg_buf


def buffer_copy(cl: Any) -> Any:
    """Return what copies buffers. The public function inspects its operands, which takes as long as the copy itself."""
    return cl._cl._enqueue_copy_buffer


def loaded_library() -> ctypes.CDLL:
    """Return the OpenCL library that pyopencl is linked with, found through pyopencl's own. Raises `OSError`."""
    import pyopencl as cl

    return ctypes.CDLL(cl._cl.__file__)
