"""The block and the decoder in NumPy, in binary32, rounded once at the end."""

from __future__ import annotations

import math

import numpy as np

HEADS, LAYERS, EPSILON = 4, 2, 1e-5


def block(x, scale1, shift1, wq, wk, wv, wo, scale2, shift2, w1, b1, w2, b2):  # noqa: PLR0917 - the model's
    """Return what block-*.onnx returns."""
    dtype, wide = x.dtype, np.float32
    x, *weights = (value.astype(wide) for value in (x, scale1, shift1, wq, wk, wv, wo, scale2, shift2, w1, b1, w2, b2))
    scale1, shift1, wq, wk, wv, wo, scale2, shift2, w1, b1, w2, b2 = weights
    normal = _layer_normalised(x) * scale1 + shift1
    x = x + _attended(_heads(normal @ wq), _heads(normal @ wk), _heads(normal @ wv), 0) @ wo
    hidden = (_layer_normalised(x) * scale2 + shift2) @ w1 + b1
    gelu = hidden * 0.5 * (1 + np.vectorize(math.erf)(hidden * 0.5**0.5))
    return (x + gelu @ w2 + b2).astype(dtype)


def decoder(embedding, ids, mask, *others):
    """Return what decoder-*.onnx returns: the logits, then keys and values of each layer."""
    dtype, wide = embedding.dtype, np.float32
    embedding, mask = embedding.astype(wide), mask.astype(wide)
    *layers, norm = (value.astype(wide) for value in others)
    x, kept = embedding[ids], []
    for at in range(0, len(layers), len(layers) // LAYERS):
        norm1, wq, wk, wv, past_k, past_v, wo, norm2, w1, w2 = layers[at : at + len(layers) // LAYERS]
        normal = _rms_normalised(x) * norm1
        k = np.concatenate([past_k, _heads(normal @ wk)], axis=2)
        v = np.concatenate([past_v, _heads(normal @ wv)], axis=2)
        kept += [k, v]
        x = x + _attended(_heads(normal @ wq), k, v, mask) @ wo
        hidden = (_rms_normalised(x) * norm2) @ w1
        x = x + (hidden / (1 + np.exp(-hidden))) @ w2
    logits = (_rms_normalised(x) * norm) @ embedding.T
    return tuple(result.astype(dtype) for result in (logits, *kept))


def _layer_normalised(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)


def _rms_normalised(x):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + EPSILON)


def _heads(x):
    batch, length, width = x.shape
    return x.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)


def _attended(q, k, v, mask):
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5 + mask
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    joined = (shares / shares.sum(-1, keepdims=True)) @ v
    return joined.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)
