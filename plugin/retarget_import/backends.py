"""The backends of BUILD files and the flags that compile for them."""

from __future__ import annotations

from collections.abc import Sequence

_LEGACY = "--iree-hal-target-backends="
_FLAGS = {
    "llvm-cpu": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"),
    "vmvx": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"),
    "vulkan-spirv": ("--iree-hal-target-device=vulkan",),
    "cuda": ("--iree-hal-target-device=cuda",),
    "rocm": ("--iree-hal-target-device=hip",),
    "metal-spirv": ("--iree-hal-target-device=metal",),
    "webgpu-spirv": ("--iree-hal-target-device=webgpu",),
    "iree-opt": (),
    "": (),
}
"""The flags that mean what `--iree-hal-target-backends=` meant; IREE has deprecated that one."""


def backend_flags(backend: str) -> tuple[str, ...]:
    """Return the flags that compile for a backend."""
    return _FLAGS.get(backend, (f"{_LEGACY}{backend}",))


def split_backend(flags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the backend that flags compile for, empty where they name none, and the other flags."""
    legacy = {flag.removeprefix(_LEGACY): (flag,) for flag in flags if flag.startswith(_LEGACY)}
    for backend, own in (*legacy.items(), *_FLAGS.items()):
        if own and set(own) <= set(flags):
            return backend, tuple(flag for flag in flags if flag not in own)
    return "", tuple(flags)


def sorted_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return flags in an order that equal sets of them share. Flags of one name keep theirs: the last one counts."""
    return tuple(sorted(flags, key=lambda flag: flag.lstrip("-").partition("=")[0]))
