"""What the modules compute: exact in integers, in double precision else, rounded once at the end."""

import numpy as np

WEIGHTS = np.array([[1, -2], [3, 4], [-5, 6], [7, -8], [9, 10]])


def matmul(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def matmul_in_type(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(a.dtype)


def matmul_integer(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


def mmt4d(a, b):
    return np.einsum("mkab,nkcb->mnac", a.astype(np.float64), b.astype(np.float64)).astype(np.float32)


def mmt4d_integer(a, b):
    return np.einsum("mkab,nkcb->mnac", a.astype(np.int32), b.astype(np.int32))


def transposed(a, b):
    return matmul(a, b.T)


def fused(a, b, bias):
    product = 2 * a.astype(np.float64) @ b.astype(np.float64)
    return np.maximum(product + bias, 0).astype(np.float32)


def chain(a, b, c):
    return (a.astype(np.float64) @ b.astype(np.float64) @ c.astype(np.float64)).astype(np.float32)


def weights(a):
    return (a.astype(np.float64) @ WEIGHTS).astype(np.float32)
