"""Expected results of `scales.mlir`."""

import numpy as np


def scaled(a: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) * scale.astype(np.float32)
