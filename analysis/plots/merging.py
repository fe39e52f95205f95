"""Merging of rectangles smaller than a pixel into the pixels of an image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Bool, Float64

MOST = 20_000
"""Largest number of rectangles that are drawn individually: more make a figure slow and large."""

PIXEL = 1.0
"""Least width and height of a rectangle that is drawn individually, pixels."""


@dataclass(frozen=True, eq=False)
class Rectangles:
    """Hold rectangles in pixels of a panel: left, right, bottom and top, float64[k]."""

    left: Float64
    right: Float64
    bottom: Float64
    top: Float64

    def __len__(self) -> int:
        return int(self.left.size)

    def take(self, kept: Bool) -> Rectangles:
        """Return the rectangles that a mask selects."""
        return Rectangles(self.left[kept], self.right[kept], self.bottom[kept], self.top[kept])


def large(boxes: Rectangles) -> Bool:
    """Return the mask of rectangles to draw individually: at least a pixel, the `MOST` largest.

    Examples
    --------
    >>> one, two = np.array([0.0, 0.0]), np.array([2.0, 0.5])
    >>> large(Rectangles(one, two, one, two)).tolist()
    [True, False]
    """
    width, height = boxes.right - boxes.left, boxes.top - boxes.bottom
    seen = (width >= PIXEL) & (height >= PIXEL)
    if np.count_nonzero(seen) > MOST:
        area = np.where(seen, width * height, 0.0)
        kept = np.argsort(-area, kind="stable")[:MOST]
        seen = np.zeros(len(boxes), np.bool_)
        seen[kept] = True
    return seen


def coverage(boxes: Rectangles, columns: int, rows: int) -> Float64:
    """Return the covered share of each pixel, float64[rows, columns]; overlaps add up.

    The sum is the area of the rectangles, which lie within the panel.

    Examples
    --------
    >>> boxes = Rectangles(*(np.array([x]) for x in (0.5, 2.0, 0.0, 0.5)))
    >>> coverage(boxes, 2, 1).tolist()
    [[0.25, 0.5]]
    """
    # The coverage by an interval is the difference of two ramps, and a ramp is the double sum of
    # two entries. A rectangle needs 16 entries, which are summed over both axes.
    total = np.zeros((rows + 2) * (columns + 2))
    for x, across in ((boxes.left, 1.0), (boxes.right, -1.0)):
        for y, upwards in ((boxes.bottom, 1.0), (boxes.top, -1.0)):
            for column, of_column in _ramp(x, columns):
                for row, of_row in _ramp(y, rows):
                    weights = across * upwards * of_column * of_row
                    total += np.bincount(
                        row * (columns + 2) + column, weights=weights, minlength=total.size
                    )
    grid = total.reshape(rows + 2, columns + 2)
    grid = grid.cumsum(axis=0).cumsum(axis=1)[:rows, :columns]
    return np.clip(grid, 0.0, None)


def _ramp(x: Float64, pixels: int) -> tuple[tuple[np.ndarray, Float64], ...]:
    """Return two entries whose running sum is the share of each pixel above x, from 0 to 1."""
    pixel = np.minimum(np.floor(x).astype(np.int64), pixels)
    inside = x - pixel
    return (pixel, 1.0 - inside), (pixel + 1, inside)
