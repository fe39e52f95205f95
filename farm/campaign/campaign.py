"""A campaign: traces x resamples x loads x policies, as one value and as one TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.window import NO_WARMUP, check_warmup
from core.policy.policy import Policy
from farm.campaign.checks import (
    DRAWS,
    ORIGINAL,
    check_labels,
    check_load_by,
    check_numbers,
    check_types,
)
from farm.campaign.keys import check_keys
from farm.campaign.trace import Trace
from farm.store.schema import FAIRNESS

LOG = 0
"""Resample number of the log itself; samples count from 1."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Campaign:
    """Describe an experiment: every trace x resample x load x policy is a cell.

    Parameters
    ----------
    name : str
        Letters, digits, ``.``, ``_`` and ``-``.
    traces : tuple of Trace
        At least one, with different names.
    policies : tuple of str
        Policy names; kept in canonical form.
    loads : tuple of str or float
        ``original`` or an offered load > 0, to which the jobs are scaled; kept as labels.
    resamples : int
        Number of samples of each trace, numbered from 1.
    log : bool
        Whether the log itself is a resample too, number 0.
    seed : int
        Root of all randomness.
    tau : int
        Threshold of the bounded slowdown, s.
    draw : {"replace", "permute", "users"}
        How a resample draws each user's weeks, or whole users.
    load_by : {"runtime", "interarrival", "users"}
        What reaches a load: run times, gaps between submissions, or the number of users drawn.
    warmup : float or str
        What summaries and weeks leave out at the beginning: a share of the jobs, in the order in
        which they end, such as 0.01, or a duration, such as ``2w``; as for `core.window`.
    cooldown : bool
        Whether they leave out jobs that end after the last submission.
    fairness : tuple of str
        Kinds of fairness to measure: ``strict`` and ``relaxed`` fair start times, ``resource``
        equality (Sabin and Sadayappan 2005); by default none, since they cost many reruns.
    block_seconds : float
        CPU time that a block of cells should take, s, for traces that enter the store: less loses
        less at an interruption and makes more files. By default up to 10 s, chosen by the planner.
    report : str
        What `farm run` writes at its end: a name in `analysis.papers`; by default the bands.
    title : str
        One line for tables and lists.

    Raises
    ------
    InputError
        If a value is out of range, unknown or given twice.

    Examples
    --------
    >>> c = Campaign(name="tiny", traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
    ...              policies=("SJF+easy",), loads=(0.9,), resamples=2)
    >>> c.policies, c.loads, c.resample_axis
    (('spf+easy',), ('0.9',), (1, 2))
    """

    name: str
    traces: tuple[Trace, ...]
    policies: tuple[str, ...]
    loads: tuple[str, ...] = (ORIGINAL,)
    resamples: int = 0
    log: bool = False
    seed: int = 0
    tau: int = 10
    draw: str = "replace"
    load_by: str = "runtime"
    warmup: float | str = NO_WARMUP
    cooldown: bool = False
    fairness: tuple[str, ...] = ()
    block_seconds: float = 0.0
    report: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        check_types(self)
        if not _NAME.fullmatch(self.name):
            raise InputError(f"name {self.name!r}: use letters, digits, '.', '_' and '-'")
        object.__setattr__(self, "policies", tuple(Policy.parse(p).name for p in self.policies))
        object.__setattr__(self, "loads", tuple(load_label(load) for load in self.loads))
        object.__setattr__(self, "warmup", check_warmup(self.warmup))
        check_numbers(self)
        if self.draw not in DRAWS:
            raise InputError(f"draw {self.draw!r} is unknown; known: {', '.join(DRAWS)}")
        check_load_by(self)
        for kind in self.fairness:
            if kind not in FAIRNESS:
                known = ", ".join(FAIRNESS)
                raise InputError(f"fairness {kind!r} is unknown; known: {known}")
        for what, labels in (
            ("traces", [t.name for t in self.traces]),
            ("policies", list(self.policies)),
            ("loads", list(self.loads)),
        ):
            check_labels(what, labels)

    @property
    def resample_axis(self) -> tuple[int, ...]:
        """The resample numbers, the log first where it is one."""
        return (*([LOG] if self.log else []), *range(1, self.resamples + 1))

    @property
    def settings(self) -> dict[str, Any]:
        """What every cell depends on beside its coordinates, without what is not asked for."""
        always = {key: getattr(self, key) for key in ("seed", "tau", "draw", "load_by")}
        asked = {
            "warmup": self.warmup,
            "cooldown": self.cooldown,
            "fairness": list(self.fairness),
        }
        return {**always, **{key: value for key, value in asked.items() if value}}

    @property
    def cells(self) -> int:
        """How many simulations the campaign asks for."""
        return len(self.traces) * len(self.resample_axis) * len(self.loads) * len(self.policies)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Path) -> Campaign:
        """Build a campaign from plain values; a trace's file is relative to `folder`.

        Raises
        ------
        InputError
            If a key is unknown or missing, or a value is wrong.
        """
        check_keys("campaign", given, cls)
        values = dict(given)
        values["traces"] = tuple(Trace.from_dict(t, folder) for t in _tables(given["traces"]))
        for key in ("policies", "loads", "fairness"):
            if key in values:
                if not isinstance(values[key], list | tuple):
                    raise InputError(f"key {key!r} is {values[key]!r}; it must be a list")
                values[key] = tuple(values[key])
        return cls(**values)

    @classmethod
    def from_toml(cls, path: str | Path) -> Campaign:
        """Read a campaign file.

        Raises
        ------
        InputError
            If the file cannot be read, is not TOML, or does not describe a campaign.
        """
        path = Path(path)
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"campaign {path}: {error}") from None
        try:
            return cls.from_dict(given, path.parent)
        except InputError as error:
            raise InputError(f"campaign {path}: {error}") from None

    def located(self, folder: Path | None = None) -> Campaign:
        """Return the campaign with the file of every log that it names; see `Trace.located`.

        Raises
        ------
        InputError
            As `Trace.located`.
        """
        return replace(self, traces=tuple(t.located(folder) for t in self.traces))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` builds an equal campaign."""
        plain = {k: v for k, v in asdict(self).items() if k != "traces"}
        for key in ("policies", "loads", "fairness"):
            plain[key] = list(plain[key])
        return {**plain, "traces": [t.to_dict() for t in self.traces]}

    def to_toml(self) -> str:
        """Return the campaign in canonical form, as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())


def load_label(load: str | float) -> str:
    """Return the label of a load: ``original``, or the shortest decimal, such as ``0.9``.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> load_label(0.90), load_label("original")
    ('0.9', 'original')
    """
    if load == ORIGINAL:
        return ORIGINAL
    try:
        number = float(load)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if isinstance(load, bool) or not 0 < number < 100:
        raise InputError(
            f"load {load!r} is neither 'original' nor an offered load above 0 and below 100, "
            "such as 0.9"
        )
    return str(number)


def _tables(given: Any) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not given:
        raise InputError("key 'traces' must be one or more [[traces]] tables")
    return given
