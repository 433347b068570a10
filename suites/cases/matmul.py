"""What `matmul.mlir` computes."""

import numpy as np


def matmul(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
