"""The codes of element types are the runtime's."""

from __future__ import annotations

import re

import iree.runtime as rt
import pytest
from retarget_iree.runtime.elements import ELEMENT_CODES, element_type_code, element_type_name

NAMES = {"i1": "BOOL_8", "index": "INT_64", "complex<f32>": "COMPLEX_64", "complex<f64>": "COMPLEX_128"}
WORDS = {"i": "INT", "si": "SINT", "ui": "UINT", "f": "FLOAT", "bf": "BFLOAT"}


def test_each_type_has_the_code_of_the_runtime_and_each_code_its_name() -> None:
    for name, code in ELEMENT_CODES.items():
        kind, bits, format_ = re.fullmatch(r"([a-z]+)(\d*)(.*)", name).groups()  # type: ignore[union-attr]
        eight = re.sub(r"(E\dM\d)(\w+)", r"\1_\2", format_)
        theirs = NAMES.get(name) or "_".join(filter(None, (WORDS[kind], bits, eight)))
        if bits != "2":
            assert (name, code) == (name, int(getattr(rt.HalElementType, theirs)))
        assert element_type_name(code) == ("i64" if name == "index" else name)
    assert [element_type_name(code) for code in (0x10000003, 0x11000007, 0x01000008)] == ["i3", "si7", "0x01000008"]
    with pytest.raises(ValueError, match=r"^no element type code for opaque$"):
        element_type_code("opaque")
