"""Expected results of `packed.mlir`."""

import numpy as np


def widen(a: np.ndarray) -> np.ndarray:
    return a.astype(np.int32)
