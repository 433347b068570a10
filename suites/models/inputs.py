"""Write the inputs of models to inputs/: `python suites/models/inputs.py`.

A file of Python as magika reads it, and a word as the models of OCR get it from an image: letters of 5 by 7 dots, black
on white, of the size that each expects, from -1 to 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FONT = {
    "A": "0111010001100011111110001100011000 1",
    "E": "1111110000100001111010000100001111 1",
    "G": "0111010001100001011110001100010111 0",
    "I": "0111000100001000010000100001000111 0",
    "R": "1111010001100011111010100100101000 1",
    "T": "1111100100001000010000100001000010 0",
}
"""Letters, row by row."""
SIZES = {"ocr-detection": (96, 320), "ocr-recognition": (48, 160), "ocr-orientation": (48, 192)}
SCALE = 4
PADDING = 256
PROGRAM = b"""import sys


def main(arguments):
    for name in arguments:
        print(name)


main(sys.argv[1:])
"""


def text(height: int, width: int) -> np.ndarray:
    """Return the image of a word, 1x3xHxW."""
    image = np.ones((height, width), np.float32)
    column = 8
    for letter in "TARGET":
        dots = np.array([int(dot) for dot in FONT[letter].replace(" ", "")]).reshape(7, 5)
        dots = np.kron(dots, np.ones((SCALE, SCALE)))
        top = (height - 7 * SCALE) // 2
        image[top : top + 7 * SCALE, column : column + 5 * SCALE] -= 2 * dots.astype(np.float32)
        column += 6 * SCALE
    return np.broadcast_to(image, (1, 3, height, width)).copy()


def main() -> None:
    """Write all inputs."""
    folder = Path(__file__).resolve().parent / "inputs"
    program = PROGRAM.strip()
    begin, end = np.full(1024, PADDING, np.int32), np.full(1024, PADDING, np.int32)
    begin[: len(program)] = list(program)
    end[-len(program) :] = list(program)
    np.savez_compressed(folder / "magika.npz", np.concatenate([begin, end])[None])
    for name, (height, width) in SIZES.items():
        np.savez_compressed(folder / f"{name}.npz", text(height, width))


if __name__ == "__main__":
    main()
