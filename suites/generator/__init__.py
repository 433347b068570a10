"""The programs that write the generated modules of suites/: one module per suite, or one package."""

from __future__ import annotations

from importlib import import_module

from generator.support import Module, Writer

SOURCES = (
    *("dynamic", "float16", "float64", "integer", "linalg_ext", "quantised", "small_types", "stablehlo", "tensor"),
    *("torch_onnx", "tosa", "linalg.contractions", "linalg.convolutions", "linalg.pointwise", "linalg.reductions"),
)


def modules() -> tuple[Module, ...]:
    """Return every generated module, in no particular order of suites."""
    sources = (import_module(f"generator.{name}") for name in SOURCES)
    writers = (value for source in sources for value in vars(source).values() if isinstance(value, Writer))
    return tuple(module for writer in writers for module in writer.modules())
