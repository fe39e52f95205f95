"""Template of a campaign for given logs: sensible settings, each line with its meaning."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import log_name
from schedfarm.core.numerals import counted
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.load import offered_load
from schedfarm.core.workload.resample_weeks import span_weeks
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.scaling import ORIGINAL
from schedfarm.farm.campaign.trace import RESERVED, Trace, named
from schedfarm.farm.campaign.warnings import Case, warnings_of
from schedfarm.farm.logs import registry

RESAMPLES = 10
"""Least number of samples for a band without the best and the worst tenth of the samples."""

POLICIES = (
    ("fcfs+easy", "spf+easy", "saf+easy", "saf+easy,threshold={limit}"),
    ("fcfs+conservative", "fcfs+demt", "saf+conservative"),
    ("fcfs+isolated(10)", "fcfs+ics", "fcfs+icsb(10)"),
)
"""Default policies: the first row whose rules support the machine. The first policy of the row is
the baseline of gains."""

DRAW = "weeks"
"""Method of resampling that keeps the sign of an effect most often (docs/comparisons.md)."""

LOADS = (0.9, 0.95, 0.8)
"""Loads to compare with the log's own load: the first load that differs enough from it."""

ALONE = "the log itself alone"
"""Description of a campaign without samples."""

OTHER = 0.05
"""Least difference of two loads worth comparing."""

LIMIT, SAFE_LIMIT = "3x", "3d"
"""Starvation threshold, and a threshold for logs with a meaningless largest estimate."""

RELATIVE = 0.02
"""Usual request of precision: half of an interval as a share of the ratio."""

WIDTH, COMMENT = 100, 36
"""Length of the longest line, and the column at which comments of shorter lines begin."""

CLEAN = {
    "no_estimate": ('no_estimate = "f-model"', "drawn by a model; by default the run time itself"),
    "long_estimate": ("# max_estimate = 259200", "longest estimate that the queues allow, s"),
    "killed": ("# kill = false", "let jobs run as long as they ran in the log"),
}
"""Lines of [traces.clean] as remedies, by the key of the warning. A line is commented out if only
the user knows the value."""


@dataclass(frozen=True, eq=False)
class Template:
    """Hold the logs and policies of a new campaign.

    sources: for each log, the trace that names it and the log as read. folder: folder of the
    campaign's file. policies: policies to compare; by default a row of `POLICIES`. resamples:
    number of samples. loads: labels; by default the log's own load and another one. title: name of
    the campaign; by default the names of the logs. precision: requests; `resamples` is then the
    largest number of samples. Without requests, the file has a commented-out example.
    """

    sources: Sequence[tuple[Trace, Workload]]
    folder: Path
    policies: Sequence[str] = ()
    resamples: int = RESAMPLES
    loads: Sequence[str] = ()
    title: str = ""
    precision: Sequence[Precision] = ()

    @property
    def name(self) -> str:
        """Name of the campaign, and of its file."""
        return self.title or label_of("-".join(trace.name for trace, _ in self.sources)).lower()

    def text(self) -> str:
        """Return the campaign as commented TOML, ready to run; refuse unknown policies."""
        lines = [*self._head(), *self._campaign()]
        for trace, log in self.sources:
            lines += ["", *self._trace(trace, log), *self._clean(trace, log), *_map(trace)]
        text = "\n".join(lines) + "\n"
        Campaign.from_dict(tomllib.loads(text), self.folder)
        return text

    def _head(self) -> Iterator[str]:
        each = (
            f"{counted(len(log), 'job')} of {trace.name} on {counted(log.processors, 'processor')}"
            for trace, log in self.sources
        )
        yield from _comment(
            f"{'; '.join(each)}, under other policies than their own. farm plan estimates its "
            "cost, farm run simulates it, farm bands and farm compare print the answer. Every line "
            "can be changed; commented-out lines are examples."
        )
        yield ""

    def _campaign(self) -> Iterator[str]:
        yield _line("name", self.name, "the results go to the folder of this name, .farm")
        yield _line("seed", 1, "root of all randomness: the same seed, the same results")
        can_draw, caution = drawing([log for _, log in self.sources])
        if caution:
            yield from _comment(caution)
        if can_draw:
            most = " at most" * bool(self.precision)
            yield _line("resamples", self.resamples, f"samples of each log{most}: random weeks")
            yield _line("draw", DRAW, "with the jobs of all users in a week together")
            yield from self._precision()
        else:
            yield _line("resamples", 0, ALONE)
        yield _line("log", True, "the log itself, for comparison with its samples")
        loads: list[str | float] = [*self.loads] or [ORIGINAL, *self._loads()]
        own_loads = ", ".join(f"{load:.2f}" for load in self._own_loads())
        meaning = [f"as it is{f' ({own_loads})' if own_loads else ''}"] * (ORIGINAL in loads)
        others = [load for load in loads if load != ORIGINAL]
        meaning += [f"at {', '.join(map(str, others))} by other run times"] * bool(others)
        yield _line("loads", loads, "; ".join(meaning))
        yield (
            "policies = [" + " " * (COMMENT - 12) + "# gains are over the first; see farm policies"
        )
        chosen = self.policies or self._usual()
        known = Campaign(
            name="template",
            traces=tuple(trace for trace, _ in self.sources),
            policies=tuple(chosen),
            folder=self.folder,
        )
        with own.sources(known.sources):
            for name in known.policies:
                yield _commented(f"    {_toml(name)},", _meaning(Policy.parse(name)))
        yield "]"
        yield from (
            _commented('# fairness = ["strict"]', "starts later than fair ones: many simulations"),
            _commented('# warmup = "1w"', "left out of summaries at the beginning"),
            _commented('# keep = "summary"', "of each simulation; by default also its jobs"),
        )

    def _precision(self) -> Iterator[str]:
        meaning = "adds samples until half of each interval is this share of the ratio"
        if self.precision:
            yield _commented("precision = [", meaning)
            yield from (f"    {one.toml}," for one in self.precision)
            yield "]"
            return
        baseline, policy, *_ = [*(self.policies or self._usual()), ""]
        if policy:
            example = Precision(metric="wait", policy=policy, over=baseline, relative=RELATIVE)
            yield _commented(
                f"# precision = {example.toml}", f"{meaning}; resamples = 1000 at most"
            )

    def _trace(self, trace: Trace, log: Workload) -> Iterator[str]:
        yield "[[traces]]"
        yield _line("name", trace.name, "label in tables")
        if trace.log is not None:
            yield _line("log", trace.log, "fetched where it is not here")
        else:
            yield _line("file", self._file(trace), "relative to this file")
        if trace.processors is not None:
            yield _line("processors", trace.processors, "size of the machine")
        if isinstance(trace.map, str):
            yield _line("map", trace.map, "ready map of the log's columns")
        if trace.names:
            yield _line("names", True, "in the store's folder names, for its owner alone")
        elif log.names:
            yield _commented("# names = true", "users by name, in a file for the store's owner")
        weeks = span_weeks(log)
        yield _commented(f"# weeks = {weeks}", "of each sample; by default those of the log")

    def _clean(self, trace: Trace, log: Workload) -> Iterator[str]:
        asked, said = dict(trace.clean), warnings_of(Case(log))
        met = {key: row for key, row in CLEAN.items() if key in said}
        if not asked and not met:
            return
        yield from ("", "[traces.clean]" + " " * (COMMENT - 14) + "# how rows become jobs")
        for key, value in asked.items():
            yield _line(key, value, "as requested")
        for key, (line, meaning) in met.items():
            yield from _comment(said[key])
            yield _commented(line, meaning)

    @property
    def _warnings(self) -> dict[str, str]:
        """Warnings of all logs by key, the last one of each key."""
        said: dict[str, str] = {}
        for _, log in self.sources:
            said |= warnings_of(Case(log))
        return said

    def _own_loads(self) -> list[float]:
        # Jobs submitted at one instant have no offered load.
        return [offered_load(log) for _, log in self.sources if np.ptp(log.submit)]

    def _loads(self) -> list[float]:
        own_loads = self._own_loads()
        far = [x for x in LOADS if all(abs(x - y) >= OTHER for y in own_loads)]
        return far[:1] if own_loads else []

    def _usual(self) -> list[str]:
        limit, machines = self._limit(), {log.platform.name for _, log in self.sources}
        some = [[policy.format(limit=limit) for policy in names] for names in POLICIES]
        rules = [[Policy.parse(policy).row for policy in names] for names in some]
        known = [all(machines <= {*row.platforms} for row in rows) for rows in rules]
        if True not in known:
            raise InputError(
                f"logs on {' and '.join(sorted(machines))} have no usual policies in common; "
                "give some with --policy, or write a campaign for each machine"
            )
        return some[known.index(True)]

    def _limit(self) -> str:
        return SAFE_LIMIT if "long_estimate" in self._warnings else LIMIT

    def _file(self, trace: Trace) -> str:
        file = Path(trace.file or "").resolve()
        here = self.folder.resolve()
        return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)


def drawing(logs: Sequence[Workload]) -> tuple[bool, str]:
    """Return whether weeks can be drawn from every log, and a caution if a log is short, or ""."""
    said: dict[str, str] = {}
    for log in logs:
        said |= warnings_of(Case(log, method=DRAW))
    return "short" not in said, said.get("short") or said.get("few_weeks", "")


def read(text: str, folder: Path | None = None, **source: Any) -> tuple[Trace, Workload]:
    """Return the trace of a file or log name on the command line, and its log.

    source: further attributes of the trace; see `farm.campaign.trace.named` for the others.
    """
    entry = registry.find(text)
    label = label_of(entry.short if entry else log_name(text))
    trace = named(text, folder, name=label, **source)
    log = trace.read()
    assert log is not None, "a trace that was named is no model"
    return trace, log


def label_of(name: str) -> str:
    """Return a valid name for a campaign and its trace, as close to a log's name as possible.

    Examples
    --------
    >>> label_of("half year (2).sacct"), label_of("wait"), label_of("KTH-SP2")
    ('half-year-2-.sacct', 'wait-log', 'KTH-SP2')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-")[:40] or "log"
    return f"{plain}-log" if plain in RESERVED else plain


def _map(trace: Trace) -> Iterator[str]:
    """Yield the lines of a map that is a table."""
    import tomli_w

    if isinstance(trace.map, Mapping):
        yield ""
        yield "# The columns of the log."
        yield from tomli_w.dumps({"traces": {"map": trace.map}}).rstrip().splitlines()


def _meaning(policy: Policy) -> str:
    threshold = f", wait limit {_limit(policy.threshold)}" if policy.threshold else ""
    return find_order(policy.order).meaning.partition(":")[0] + threshold


def _limit(threshold: str) -> str:
    times = threshold.removesuffix("x")
    return threshold if times == threshold else f"{times}x the largest estimate"


def _line(key: str, value: Any, comment: str) -> str:
    return _commented(f"{key} = {_toml(value)}", comment)


def _toml(value: Any) -> str:
    import tomli_w

    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return tomli_w.dumps({"x": value}).partition("=")[2].strip()


def _commented(line: str, comment: str) -> str:
    whole = f"{line:<{COMMENT - 2}}  # {comment}"
    return whole if len(whole) <= WIDTH else "\n".join([*_comment(comment), line])


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH - 2, break_on_hyphens=False)]
