"""Interchangeable processors, and the claims on them."""

from __future__ import annotations

from dataclasses import dataclass

from schedfarm.core.reference.job import Job


@dataclass(frozen=True)
class Claim:
    """Hold the processors that a job has, or reserves, in [begin, end), and their place."""

    begin: int
    end: int
    procs: int
    place: int = 0


@dataclass(frozen=True)
class Processors:
    """Compute the processors of a pool or cluster that claims leave free.

    Parameters
    ----------
    size : int
        Number of processors.

    Examples
    --------
    >>> claims = [Claim(0, 5, 3), Claim(2, 9, 1)]
    >>> [Processors(4).free_at(t, claims) for t in (0, 2, 5, 9)]
    [1, 0, 3, 4]
    """

    size: int

    def free_at(self, instant: int, claims: list[Claim]) -> int:
        """Return the number of processors that the claims leave free at an instant."""
        return self.size - sum(c.procs for c in claims if c.begin <= instant < c.end)

    def are_free(self, procs: int, begin: int, end: int, claims: list[Claim]) -> bool:
        """Return whether the claims leave enough processors free in all of [begin, end)."""
        # The number of free processors falls only at the begin of a claim.
        falls = [begin] + [c.begin for c in claims if begin < c.begin]
        return all(self.free_at(t, claims) >= procs for t in falls if t < end)

    def earliest(self, job: Job, now: int, claims: list[Claim]) -> int:
        """Return the first instant from now on at which the claims leave room for a job.

        A job with estimate 0 needs its processors only at this instant.
        """
        # The number of free processors rises only at the end of a claim.
        rises = {now} | {c.end for c in claims if c.end > now}
        return next(
            t
            for t in sorted(rises)
            if self.are_free(job.procs, t, t + max(job.expected, 1), claims)
        )

    def shadow(self, procs: int, now: int, claims: list[Claim]) -> tuple[int, int]:
        """Return the shadow time for some processors, s, and the extra processors then."""
        ends = {now} | {claim.end for claim in claims if claim.end > now}
        shadow = min(t for t in ends if self.free_at(t, claims) >= procs)
        return shadow, self.free_at(shadow, claims) - procs
