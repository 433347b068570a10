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


def sums(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.float64) for operand in (a, b, c, d))
    return (first @ second + third @ fourth).astype(np.float32)


def sums_integer(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.int32) for operand in (a, b, c, d))
    return first @ second + third @ fourth


def chain(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.float64) for operand in (a, b, c, d))
    return (first @ second @ third @ fourth).astype(np.float32)


def both(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.float64) for operand in (a, b, c, d))
    return (first @ second).astype(np.float32), (third @ fourth).astype(np.float32)


def constant(a):
    return both(a, CONSTANT, a, CONSTANT)


def same(rows):
    return rows
