"""What a request that was not answered says, and what it does not."""

from __future__ import annotations

import pytest
from retarget.worker.messages import Refusal, Refused


@pytest.mark.parametrize("refusal", Refusal)
def test_only_a_worker_that_ended_is_gone_and_nothing_more_is_known_of_it(refusal: Refusal) -> None:
    refused = Refused(refusal=refusal, summary="no")
    assert refused.worker_ended is (refusal.name in {"CRASHED", "ENDED"})
    assert not any((refused.in_front_half, refused.seconds, refused.resident, refused.host, refused.cause))
