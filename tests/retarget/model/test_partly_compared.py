"""What is equal although it was declared elsewhere."""

from __future__ import annotations

import pytest
from retarget.model.declared import PartlyCompared


@pytest.mark.parametrize("sort", PartlyCompared.__subclasses__(), ids=lambda sort: sort.__name__)
def test_records_are_equal_whose_compared_fields_are(sort: type[PartlyCompared]) -> None:
    fields = sort.__struct_fields__
    assert sort.uncompared <= set(fields)
    one = sort(**dict.fromkeys(fields, "a"))
    elsewhere = sort(**{name: "b" if name in sort.uncompared else "a" for name in fields})
    assert one == elsewhere
    assert not one != elsewhere  # noqa: SIM202  (it has a method of its own)
    assert hash(one) == hash(elsewhere)
    for name in set(fields) - sort.uncompared:
        assert one != sort(**(dict.fromkeys(fields, "a") | {name: "b"}))
    assert one != "a"
