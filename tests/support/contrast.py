"""Contrast of colours by the Web Content Accessibility Guidelines (WCAG 2.2)."""

from __future__ import annotations

import re

TEXT, PARTS = 4.5, 3.0
"""Least contrast of text (criterion 1.4.3, level AA) and of borders and outlines (1.4.11)."""


def colour(text: str) -> tuple[float, ...]:
    """Return red, green and blue, 0 to 1, of a colour such as #abc, #aabbcc or rgb(1, 2, 3).

    Examples
    --------
    >>> colour("#fff"), colour("rgb(0, 255, 0)")
    ((1.0, 1.0, 1.0), (0.0, 1.0, 0.0))
    """
    if text.startswith("#"):
        digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
        return tuple(int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    red, green, blue, *opacity = (float(x) for x in re.findall(r"[\d.]+", text))
    assert opacity in ([], [1.0]), f"{text} is transparent"
    return red / 255, green / 255, blue / 255


def luminance(text: str) -> float:
    """Return the relative luminance of a colour, 0 for black to 1 for white."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour(text)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21.

    Examples
    --------
    >>> contrast("#000", "#fff"), round(contrast("#777", "#ffffff"), 2)
    (21.0, 4.48)
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
