"""What the modules compute."""

import numpy as np


def sums(a, b, c, d):
    first, second, third, fourth = (operand.astype(np.float64) for operand in (a, b, c, d))
    return (first @ second + third @ fourth).astype(np.float32)


def products(a, b, c, d):
    return a @ b, c @ d


def there_and_back(a):
    return a - (a + a) ** 2


def shared(a, b):
    both = a + b
    return both - both * both, both * both


def dynamic(a):
    return (a + a) ** 2


def loop(a, rounds):
    return (a - 1) * 2 ** int(rounds) + 1


def each(a, b):
    return a + a, b * b
