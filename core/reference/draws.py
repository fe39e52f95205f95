"""Random numbers in Python's own integers."""

from __future__ import annotations

M1 = 2**32 - 209
M2 = 2**32 - 22_853


class MRG32k3a:
    """Draw from the combined multiple recursive generator MRG32k3a.

    Parameters
    ----------
    seed : int
        All six seeds of the two recurrences.

    References
    ----------
    P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random
    number generators", Operations Research 47(1), 1999.

    Examples
    --------
    With its usual seeds 12345 the first uniform numbers are 0.127011122 and 0.318527565.

    >>> draws = MRG32k3a(12345)
    >>> [round(draws.next() / (M1 + 1), 9) for _ in range(2)]
    [0.127011122, 0.318527565]
    """

    def __init__(self, seed: int) -> None:
        # The last three numbers of each recurrence, the oldest first.
        self.x = [seed] * 3
        self.y = [seed] * 3

    def next(self) -> int:
        """Return the next integer of [0, `M1`)."""
        x = (1_403_580 * self.x[-2] - 810_728 * self.x[-3]) % M1
        y = (527_612 * self.y[-1] - 1_370_589 * self.y[-3]) % M2
        self.x = [*self.x[1:], x]
        self.y = [*self.y[1:], y]
        return (x - y) % M1

    def place(self, count: int) -> int:
        """Return one of `count` indices, from 0."""
        return self.next() * count // M1
