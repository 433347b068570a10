"""Python text of extensions, which tests write to a file or alter."""

from __future__ import annotations

__all__ = ["TINY_COMPILER"]

TINY_COMPILER = """
import retarget.extension

class Compiler(retarget.extension.Compiler):
    name = "tiny"
    artifact_suffix = ".bin"
    def fingerprint(self, config): return ""
    def resolve(self, config, flags): ...
    def compile(self, request): ...
"""
