"""A campaign: traces x resamples x loads x policies, as one value and as one TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.policy import Policy
from core.resample import DRAWS as WEEKLY_DRAWS
from core.window import NO_WARMUP, check_warmup
from farm.keys import check_keys
from farm.schema import FAIRNESS
from farm.traces import Trace

ORIGINAL = "original"
"""Label of the load that leaves a trace as it is."""

LOG = 0
"""Resample number of the log itself; samples count from 1."""

DRAWS = (*WEEKLY_DRAWS, "users")
"""How a log is resampled: each user's weeks drawn one by one, or whole users."""

LOAD_BY = ("runtime", "interarrival", "users")
"""How a load is reached: longer run times, shorter gaps, or more users in the resample."""

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
    report: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        _check_types(self)
        if not _NAME.fullmatch(self.name):
            raise InputError(f"name {self.name!r}: use letters, digits, '.', '_' and '-'")
        object.__setattr__(self, "policies", tuple(Policy.parse(p).name for p in self.policies))
        object.__setattr__(self, "loads", tuple(load_label(load) for load in self.loads))
        object.__setattr__(self, "warmup", check_warmup(self.warmup))
        if self.resamples < 0 or not self.resample_axis:
            raise InputError(
                f"resamples is {self.resamples}: give at least 1, or log = true for the log itself"
            )
        if not 0 <= self.seed < 2**63:
            raise InputError(f"seed is {self.seed}: it must be from 0 to 2^63 - 1")
        if self.tau < 1:
            raise InputError(f"tau is {self.tau}: it must be at least 1 s")
        if self.draw not in DRAWS:
            raise InputError(f"draw {self.draw!r} is unknown; known: {', '.join(DRAWS)}")
        _check_load_by(self)
        for kind in self.fairness:
            if kind not in FAIRNESS:
                known = ", ".join(FAIRNESS)
                raise InputError(f"fairness {kind!r} is unknown; known: {known}")
        for what, labels in (
            ("traces", [t.name for t in self.traces]),
            ("policies", list(self.policies)),
            ("loads", list(self.loads)),
        ):
            _check_labels(what, labels)

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


def _check_types(campaign: Campaign) -> None:
    kinds: dict[str, type] = {
        "name": str,
        "resamples": int,
        "log": bool,
        "seed": int,
        "tau": int,
        "draw": str,
        "load_by": str,
        "cooldown": bool,
        "report": str,
        "title": str,
    }
    for key, kind in kinds.items():
        value = getattr(campaign, key)
        if type(value) is not kind:
            raise InputError(f"key {key!r} is {value!r}; it must be of type {kind.__name__}")
    for policy in campaign.policies:
        if not isinstance(policy, str):
            raise InputError(f"key 'policies' holds {policy!r}; it must be a list of names")


def _check_load_by(campaign: Campaign) -> None:
    if campaign.load_by not in LOAD_BY:
        raise InputError(f"load_by {campaign.load_by!r} is unknown; known: {', '.join(LOAD_BY)}")
    if campaign.load_by != "users":
        return
    if campaign.draw != "users":
        raise InputError(
            f'load_by = "users" goes with draw = "users" only, since a resample by weeks '
            f"({campaign.draw}) has the users of the log"
        )
    models = [t.name for t in campaign.traces if t.model is not None]
    if campaign.loads != (ORIGINAL,) and (campaign.log or models):
        what = f"trace {models[0]!r}, a model," if models else "the log itself (log = true)"
        raise InputError(
            f'load_by = "users" cannot bring {what} to a load: only resamples draw users'
        )


def _check_labels(what: str, labels: list[str]) -> None:
    if not labels:
        raise InputError(f"key {what!r} is empty; give at least one")
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise InputError(f"key {what!r} names {label!r} twice")
