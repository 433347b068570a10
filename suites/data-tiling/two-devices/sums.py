"""What the modules compute: exact in integers, in double precision else, rounded once at the end."""

import numpy as np

CONSTANT = np.array(
    [
        [1, 2, 3, 4, 5, 6, 7],
        [8, 9, 10, 11, 12, 13, 14],
        [0, 1, 0, 1, 0, 1, 0],
        [7, 6, 5, 4, 3, 2, 1],
        [1, 0, 1, 0, 1, 0, 1],
    ]
)


def twice(a, b):
    return (2 * (a.astype(np.float64) @ b.astype(np.float64))).astype(np.float32)


def twice_integer(a, b):
    return 2 * (a.astype(np.int32) @ b.astype(np.int32))


def chain(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.float64) for operand in (a, b, c, d))
    return (first @ second @ third @ fourth).astype(np.float32)


def both(a, b):
    product = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return product, product


def constant(a):
    return both(a, CONSTANT)


def same(rows):
    return rows
