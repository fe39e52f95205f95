"""Growth of a campaign's file: more samples, precision, policies or loads; the rest is kept."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.campaign import Campaign

PRECISION = re.compile(r"^precision\s*=\s*\[[^\]]*\]\n", re.MULTILINE)
"""List of requests, in the form that farm what-if writes."""

RESAMPLES = re.compile(r"^(resamples\s*=\s*)\d+", re.MULTILINE)


def grown(
    campaign: Campaign, policies: Iterable[str], loads: Iterable[str], resamples: int
) -> Campaign:
    """Return a campaign with further policies and loads, and at least this number of samples."""
    return replace(
        campaign,
        policies=_joined(campaign.policies, policies),
        loads=_joined(campaign.loads, loads),
        resamples=max(campaign.resamples, resamples),
    )


def grown_text(path: Path, text: str, wanted: Campaign) -> str:
    r"""Return the text of a campaign's file, extended to a campaign; comments are kept.

    Refuses a file that cannot be extended line by line.

    Examples
    --------
    >>> old = 'name = "a"\nresamples = 4  # few\npolicies = ["fcfs+easy"]\n'
    >>> old += '[[traces]]\nname = "m"\nmodel = "lublin"\nprocessors = 8\njobs = 9\n'
    >>> campaign = Campaign.from_dict(tomllib.loads(old), Path())
    >>> new = grown_text(Path("a.toml"), old, grown(campaign, ["saf+easy"], [], 8))
    >>> print("\n".join(new.splitlines()[1:3]))
    resamples = 8  # few
    policies = ["fcfs+easy", "saf+easy"]
    """
    had = Campaign.from_dict(tomllib.loads(text), path.parent)
    new = RESAMPLES.sub(rf"\g<1>{wanted.resamples}", text, count=1)
    new = _extended(new, "policies", wanted.policies[len(had.policies) :])
    new = _extended(new, "loads", wanted.loads[len(had.loads) :])
    if had.precision != wanted.precision:
        listed = "".join(f"    {one.toml},\n" for one in wanted.precision)
        requests = f"precision = [\n{listed}]\n" if listed else ""
        # As a function: names of policies may hold backslashes.
        new = re.sub(r"^resamples.*\n", lambda m: m[0] + requests, PRECISION.sub("", new),
                     count=1, flags=re.MULTILINE)  # fmt: skip
    try:
        if Campaign.from_dict(tomllib.loads(new), path.parent).to_dict() == wanted.to_dict():
            return new
    except (InputError, tomllib.TOMLDecodeError):
        pass
    raise InputError(
        f"campaign {path}: it is not written as farm what-if writes it; set resamples = "
        f"{wanted.resamples}, loads = {list(wanted.loads)}, policies = {list(wanted.policies)} and "
        f"precision = [{', '.join(one.toml for one in wanted.precision)}] in it, and run it with "
        f"farm run {path}"
    )


def _joined(old: Sequence[str], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def _extended(text: str, key: str, labels: Sequence[str]) -> str:
    """Append labels to the list of a key; in a list with one label per line, on new lines."""
    found = re.search(rf"^{key}\s*=\s*\[(.*?)(,?\s*)\]", text, re.MULTILINE | re.DOTALL)
    if not labels or found is None:
        return text
    quoted = [f'"{label}"' for label in labels]
    at = found.end() - 1
    if "\n" in found[0]:
        return text[:at] + "".join(f"    {one},\n" for one in quoted) + text[at:]
    comma = ", " if found[1].strip() else ""
    return text[: found.end(1)] + comma + ", ".join(quoted) + text[at:]
