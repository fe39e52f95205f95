"""Campaigns: traces x resamples x loads x policies, as one value and as one TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import KINDS
from schedfarm.core.format.retention import ALL, RETENTION
from schedfarm.core.metrics.declared import METRICS, ON_REQUEST, find_metric
from schedfarm.core.metrics.metric import CELL as ONE
from schedfarm.core.metrics.window import NO_WARMUP, check_warmup
from schedfarm.core.names import choices
from schedfarm.core.policy.limits import read_limits
from schedfarm.core.policy.orders import ALIASES, ORDERS
from schedfarm.core.policy.policy import Policy, whole_name
from schedfarm.core.policy.rules import RULES
from schedfarm.farm.campaign.axes import (
    Variant,
    checked_axes,
    collapsed,
    expand_policies,
    expand_traces,
    expanded,
)
from schedfarm.farm.campaign.plain import (
    Seconds,
    Switch,
    Text,
    check_keys,
    check_length,
    check_name,
    check_types,
    put,
    to_plain,
)
from schedfarm.farm.campaign.precision import Precision, precisions_of
from schedfarm.farm.campaign.resampling import METHODS, find_method
from schedfarm.farm.campaign.scaling import LOAD_BY, ORIGINAL, check_overload
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.product import OPTIONAL, TAKEN

CLUSTER = "cluster"
"""Table of a campaign's file that describes the cluster."""

LOG = 0
"""Resample number of the log itself; samples count from 1."""

LONGEST_BLOCK = 3600.0
"""Longest block that can be requested, s: an interruption loses at most this work."""

MOST_RESAMPLES = 1_000_000
"""Limit set by the manifest of the store, which names each resample."""

MOST_CHARACTERS = 2**25
"""Least length of a file that is refused: a device, for example, has no end."""

MOST_CELLS = 10_000_000
"""Limit on cells: a metric of the summary is one chunk, and folding this many cells takes 267
MiB."""

Traces = Annotated[tuple[Trace, ...], Meta(min_length=1, description="one or more [[traces]]")]
Policies = Annotated[
    tuple[str, ...],
    Meta(min_length=1, description="a list of at least one policy, such as 'saf+easy'"),
]
Loads = Annotated[
    tuple[str, ...],
    Meta(min_length=1, description="a list of at least one load, such as 'original' or 0.9"),
]
Resamples = Annotated[
    int,
    Meta(
        ge=0,
        le=MOST_RESAMPLES,
        description=f"a whole number, at least 1 and at most {MOST_RESAMPLES}, or 0 for the "
        "log alone",
    ),
]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1, description="a whole number from 0 to 2^63 - 1")]
Warmup = Annotated[
    int | float | str,
    Meta(description="a share of the jobs, such as 0.01, or a duration such as '2w'"),
]
Kinds = Annotated[
    tuple[str, ...], Meta(description=f"a list of kinds of fairness: {', '.join(OPTIONAL)}")
]
Metrics = Annotated[
    tuple[str, ...],
    Meta(description="a list of further metrics: 'energy', or your own, such as 'mine:p95_wait'"),
]
Precisions = Annotated[
    tuple[Precision, ...], Meta(description="a table or a list of tables, each with a metric")
]
Tables = Annotated[
    Mapping[str, Any], Meta(description="a table of axes, such as processors = [100, 120]")
]
Named = Annotated[
    Mapping[str, str], Meta(description="a table of policies by name, such as site = 'saf+easy'")
]
BlockSeconds = Annotated[
    float,
    Meta(
        ge=0,
        le=LONGEST_BLOCK,
        description=f"a CPU time up to {LONGEST_BLOCK:.0f} s, or 0 to leave it to the planner",
    ),
]


@dataclass(frozen=True)
class Campaign:
    """Describe an experiment: every trace x resample x load x policy is a cell.

    Parameters
    ----------
    name : str
        Name of the campaign: letters, digits, ``.``, ``_`` and ``-``.
    traces : tuple of Trace
        At least one, with different names.
    policies : tuple of str
        Policies, or names that `named` defines; kept in canonical form.
    loads : tuple of str or float
        Loads to simulate: ``original`` for the jobs as they are, or an offered load above 0 to
        which they are scaled. Kept as labels.
    resamples : int
        Number of samples of each trace, numbered from 1. With `precision` it is the largest number
        that may be drawn.
    precision : tuple of Precision
        Requests for precision, as `Precision` values or plain tables. Samples are added in rounds
        until each requested interval is short enough at every trace and load.
    log : bool
        Whether to simulate the log itself as resample 0, too. Without samples the log is always
        simulated.
    seed : int
        Root of all randomness.
    tau : int
        Threshold of the bounded slowdown, s.
    draw : str
        Resampling method: a key of `farm.campaign.resampling.METHODS`, perhaps with options, such
        as ``weeks,block=4``; kept in canonical form.
    load_by : str
        Method of reaching a load: a key of `farm.campaign.scaling.LOAD_BY`.
    overload : bool
        Whether to allow loads above 2, which are otherwise refused as slips such as 90 for 0.9.
    warmup : float or str
        Jobs that summaries and weeks leave out at the beginning: a share of the jobs in order of
        completion, such as 0.01, or a duration, such as ``2w``; see
        `core.metrics.window.window_of`.
    cooldown : bool
        Whether summaries and weeks leave out jobs that end after the last submission.
    fairness : tuple of str
        Kinds of fairness to measure: ``strict`` and ``relaxed`` fair start times, ``resource``
        equality (Sabin and Sadayappan 2005), and ``promise``, lateness relative to the start that
        was reserved at arrival; by default none, since they take many simulations.
    metrics : tuple of str
        Metrics in addition to those of every summary: ``energy``, or plug-in metrics, each
        ``module:function``.
    keep : str
        Retention, a key of `core.format.retention.RETENTION`: ``jobs`` stores everything; ``weeks``
        stores everything except values per job; ``summary`` stores one value of each metric.
    block_seconds : float
        Target CPU time of a block, s. A block is a group of cells that are simulated and stored
        together. A smaller value loses less work at an interruption and makes more files. It
        applies to traces that are new to the store; by default the planner chooses up to 10 s.
    report : str
        Report that `farm run` writes at its end: a name in `analysis.papers`; by default bands.
    title : str
        One line for tables and lists.
    sources : mapping of str to str
        Source texts of plug-in modules by name; other modules are looked up. It is not a key of a
        campaign's file.
    axes : mapping of str to list or mapping
        Values of each axis, or a value for each label. An axis is a key of the traces, such as
        ``processors``, or a placeholder ``{name}`` in a policy. Each value makes separate traces or
        policies; see `farm.campaign.axes`.
    named : mapping of str to str
        Policies by user-defined names. `policies`, tables and figures use the names; results depend
        only on the policies themselves.
    variants : mapping of str to Variant
        Origin of each policy that has a name or was expanded from an axis; derived if it is not
        given. It is not a key of a campaign's file.
    cluster : mapping
        Default cluster, the keys of ``[cluster]``; it has no effect on results and is not stored.
    folder : Path, optional
        Folder with the files of plug-in modules, by default the current one. Modules that are not
        there are imported.

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

    name: Text
    traces: Traces
    policies: Policies
    loads: Loads = (ORIGINAL,)
    resamples: Resamples = 0
    precision: Precisions = ()
    log: Switch = False
    seed: Seed = 0
    tau: Seconds = 10
    draw: Text = next(iter(METHODS))
    load_by: Text = next(iter(LOAD_BY))
    overload: Switch = False
    warmup: Warmup = NO_WARMUP
    cooldown: Switch = False
    fairness: Kinds = ()
    metrics: Metrics = ()
    keep: Text = ALL
    block_seconds: BlockSeconds = 0.0
    report: Text = ""
    title: Text = ""
    axes: Tables = field(default_factory=dict)
    named: Named = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict, compare=False, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    cluster: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    folder: InitVar[Path | None] = None

    def __post_init__(self, folder: Path | None) -> None:
        if isinstance(self.loads, list | tuple):
            put(self, loads=tuple(load_label(load) for load in self.loads))
        for trace in self.traces if isinstance(self.traces, list | tuple) else ():
            if not isinstance(trace, Trace):
                raise InputError(f"traces holds {trace!r}; it must be a schedfarm.Trace")
        put(self, precision=precisions_of(self.precision))
        check_types(self)
        self._expand()
        check_name("name", self.name)
        if not self.title.isprintable():
            raise InputError(f"title {self.title!r}: use one line of characters that can be seen")
        if not self.resamples:
            put(self, log=True)
        if self.cells > MOST_CELLS:
            raise InputError(
                f"{len(self.traces)} traces x {len(self.resample_axis)} resamples x "
                f"{len(self.loads)} loads x {len(self.policies)} policies are {self.cells} "
                f"simulations; a campaign has at most {MOST_CELLS}"
            )
        put(self, warmup=check_warmup(self.warmup), draw=find_method(self.draw).name)
        _check_known("load_by", self.load_by, LOAD_BY)
        _check_known("keep", self.keep, RETENTION)
        for kind in self.fairness:
            _check_known("fairness", kind, OPTIONAL)
        self._check_load_by()
        check_overload(self.loads, self.overload)
        self._take_own(folder or Path())
        for key in ("policies", "loads", "fairness", "metrics"):
            _check_once(key, getattr(self, key))
        _check_once("traces", [t.name for t in self.traces])

    def _expand(self) -> None:
        """Replace traces and policies by one for each value of the axes.

        Earlier expansions are undone first, so that a copy of a campaign can have other axes.
        """
        axes = checked_axes(self.axes)
        written = self._written_policies
        self._check_named(written)
        policies = expand_policies(written, axes, self.named)
        texts = [self.named.get(policy, policy) for policy in written]
        traces = tuple(expand_traces(collapsed(self.traces), texts, axes))
        variants = {policy: variant for policy, variant in policies if variant is not None}
        put(self, axes=axes, traces=traces, variants=variants)
        put(self, policies=tuple(policy for policy, _ in policies))

    def _check_named(self, written: Sequence[str]) -> None:
        """Refuse a name that is an order or a rule, or is missing from `policies`.

        With a paper's report, refuse all names.
        """
        for name in self.named:
            check_name("named: name", name)
            if name not in written:
                raise InputError(
                    f"named has {name!r}, which is not among the policies; add it to policies, or "
                    "leave it out"
                )
            if name in {*ORDERS, *RULES, *ALIASES}:
                raise InputError(f"named has {name!r}, an order or a rule; give another name")
        if self.named and self.report:
            raise InputError(
                f"report {self.report!r} knows policies by their full text; leave named out"
            )

    @property
    def _written_policies(self) -> list[str]:
        """Policies as the campaign declares them, without duplicates."""
        found: list[str] = []
        seen = set[str]()
        for policy in self.policies:
            variant = self.variants.get(policy)
            written = policy if variant is None else variant.of
            if variant is None or written not in seen:
                found.append(written)
            seen.add(written)
        return found

    def _take_own(self, folder: Path) -> None:
        """Find the plug-in modules of policies and metrics; refuse missing modules."""
        known, modules = self.sources, own.modules_of((*self.policies, *self.metrics))
        found = {m: known[m] if m in known else own.find_source(m, folder).text for m in modules}
        put(self, sources=found)
        with own.sources(self.sources):
            parsed = [Policy.parse(whole_name(p)) for p in self.policies]
            policies = tuple(p.name for p in parsed)
            given = zip(policies, self.policies, strict=True)
            variants = {name: self.variants[p] for name, p in given if p in self.variants}
            put(self, variants=variants)
            self._check_of_log(parsed)
            self._check_listed(parsed)
            self._check_metrics()
            put(self, policies=policies)
            put(self, precision=self._checked_precision())

    def _check_of_log(self, policies: Iterable[Policy]) -> None:
        """Refuse policies that replay a log if resamples, models or other loads are requested."""
        name = next((p.name for p in policies if p.row.of_log), None)
        models = [t.name for t in self.traces if t.model is not None]
        if name and (models or self.resamples or self.loads != (ORIGINAL,)):
            raise InputError(
                f"policy {name!r} takes the starts of a log; it needs resamples = 0, "
                'loads = ["original"] and no model, so give it a campaign of its own'
            )

    def _check_listed(self, policies: Iterable[Policy]) -> None:
        """Refuse policies that list users or accounts of a log if the cells lack these."""
        drawn = self.resamples and find_method(self.draw).users
        for policy in policies:
            for given in (row.weighs for row in policy.orders if row.weighs is not None):
                given.check_names({})
                if drawn and given.users:
                    raise InputError(
                        f"policy {policy.name!r} lists users, and draw = {self.draw!r} gives the "
                        "users of samples other numbers; draw weeks, or leave the users out"
                    )
            for limit in read_limits(policy.limits) if policy.limits else ():
                if named := next((one for one in limit.names if not one.lstrip("-").isdigit()), ""):
                    raise InputError(
                        f"policy {policy.name!r}: {limit.says} has the name {named!r}; a campaign "
                        "needs numbers of the log, since its stores hold no names"
                    )
                if drawn and limit.kind == "user":
                    raise InputError(
                        f"policy {policy.name!r}: {limit.says} is of a user, and draw = "
                        f"{self.draw!r} gives the users of samples other numbers; draw weeks, or "
                        "leave it out"
                    )

    def _check_metrics(self) -> None:
        labels: dict[str, str] = {}
        for metric in self.metrics:
            _check_own(metric)
            label = find_metric(metric).name
            if label in {*TAKEN, *self.axes, *(t.name for t in self.traces)} or label in labels:
                raise InputError(
                    f"metric {metric!r} would be called {label!r} in the store, and so is "
                    f"{labels.get(label, 'a trace, a coordinate or an array there')}; give it "
                    "another name"
                )
            check_length("metric", label)
            labels[label] = metric

    def _checked_precision(self) -> tuple[Precision, ...]:
        """Return the requests with canonical names; refuse unanswerable requests."""
        if self.precision and self.resamples < 2:
            raise InputError(
                f"precision is given with resamples = {self.resamples}; give the most samples to "
                "run, such as resamples = 500"
            )
        fair = [name for kind in self.fairness for _, name in KINDS[kind].means]
        own = [find_metric(name) for name in self.metrics]
        declared = [one for one in (*METRICS.values(), *own) if one.over == ONE and not one.shared]
        known = (*(one.name for one in declared if not one.among), *fair)
        names = {name: policy for policy, name in self.policy_names.items()}
        found = []
        for one in self.precision:
            _check_known("precision: metric", one.metric, known)
            policy, over = (
                names.get(name) or Policy.parse(whole_name(name)).name
                for name in (one.policy, one.over or self.policies[0])
            )
            for name in (policy, over):
                _check_known("precision: policy", name, self.policies)
            if policy == over:
                raise InputError(
                    f"precision: {policy!r} is compared with itself; give two policies, as policy "
                    "and over"
                )
            found.append(replace(one, policy=policy, over=over))
        return tuple(found)

    def _check_load_by(self) -> None:
        """Refuse a method of reaching loads that the resampling method does not support."""
        if not LOAD_BY[self.load_by].by_users:
            return
        if not find_method(self.draw).users:
            whole = " or ".join(f'draw = "{name}"' for name, row in METHODS.items() if row.users)
            raise InputError(
                f'load_by = "{self.load_by}" needs {whole}, since a resample by weeks '
                f"({self.draw}) has the users of the log"
            )
        models = [t.name for t in self.traces if t.model is not None]
        if self.loads != (ORIGINAL,) and (self.log or models):
            what = f"trace {models[0]!r}, a model," if models else "the log itself (log = true)"
            raise InputError(
                f'load_by = "{self.load_by}" cannot bring {what} to a load: only resamples '
                "draw users"
            )

    @property
    def own(self) -> dict[str, str]:
        """SHA-256 of the source of each plug-in module, by the module's name."""
        return {m: own.Source(m, text).sha256 for m, text in self.sources.items()}

    @property
    def resample_axis(self) -> tuple[int, ...]:
        """The resample numbers; the log, number 0, comes first."""
        return (*([LOG] if self.log else []), *range(1, self.resamples + 1))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that determine every cell, in addition to its coordinates."""
        always = {key: getattr(self, key) for key in ("seed", "tau", "draw", "load_by")}
        asked = {"warmup": self.warmup, "cooldown": self.cooldown}
        return {**always, **{key: value for key, value in asked.items() if value}}

    @property
    def cells(self) -> int:
        """The number of simulations of the campaign."""
        return len(self.traces) * len(self.resample_axis) * len(self.loads) * len(self.policies)

    @classmethod
    def from_dict(
        cls, given: Mapping[str, Any], folder: Path, sources: Mapping[str, str] | None = None
    ) -> Campaign:
        """Build a campaign from plain values.

        Parameters
        ----------
        given : mapping
            Plain values as returned by `to_dict`.
        folder : Path
            Base of relative paths of traces, and folder of plug-in modules.
        sources : mapping of str to str, optional
            Source texts of plug-in modules by name, if known already.

        Raises
        ------
        InputError
            If a key is unknown or missing, or a value is wrong.
        """
        given, where = _apart(given)
        values = dict(check_keys(cls, given))
        if isinstance(values["traces"], list):
            values["traces"] = [_trace(i, t, folder) for i, t in enumerate(values["traces"])]
        return cls(**values, sources=sources or {}, cluster=where, folder=folder)

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
            # Editors on Windows begin a text with a byte order mark.
            with path.open(encoding="utf-8-sig") as file:
                text = file.read(MOST_CHARACTERS)
            if len(text) == MOST_CHARACTERS:
                raise InputError(
                    f"campaign {path}: it has {MOST_CHARACTERS:,} characters or more, too many "
                    "for a campaign; give another file"
                )
            given = tomllib.loads(text)
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise InputError(f"campaign {path}: {_unread(error)}") from None
        except RecursionError:
            raise InputError(
                f"campaign {path}: brackets are nested too deeply; no key needs that"
            ) from None
        try:
            return cls.from_dict(given, path.parent)
        except InputError as error:
            raise InputError(f"campaign {path}: {error}") from None

    def located(self, folder: Path | None = None) -> Campaign:
        """Return the campaign with the path of every log filled in; see `Trace.located`.

        Raises
        ------
        InputError
            For the reasons of `Trace.located`.
        """
        return replace(self, traces=tuple(t.located(folder) for t in collapsed(self.traces)))

    @property
    def policy_names(self) -> dict[str, str]:
        """Labels of named policies in tables and figures, by the text of the policy."""
        named = {p: one for p, one in self.variants.items() if one.of in self.named}
        return {policy: one.label(self.axes) for policy, one in named.items()}

    @property
    def labels(self) -> dict[str, dict[str, Any]]:
        """Origin, values and name of each expanded trace and policy, in the form of a store."""
        traces = {t.name: one for t in self.traces if (one := expanded(t)) is not None}
        each = {"trace": traces, "policy": dict(self.variants)}
        names = self.policy_names
        return {
            axis: {
                label: one.to_dict() | ({"name": names[label]} if label in names else {})
                for label, one in found.items()
            }
            for axis, found in each.items()
            if found
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` builds an equal campaign."""
        apart = ("traces", "precision", "axes", "named")
        kept = {k: v for k, v in to_plain(self).items() if k not in apart}
        kept["policies"] = self._written_policies
        asked = {"precision": [one.to_dict() for one in self.precision]} if self.precision else {}
        tables = {key: dict(table) for key in ("axes", "named") if (table := getattr(self, key))}
        return {**kept, **asked, **tables, "traces": [t.to_dict() for t in collapsed(self.traces)]}

    def to_toml(self) -> str:
        """Return the campaign in canonical form, as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())


def load_label(load: str | float) -> str:
    """Return the label of a load: ``original``, or the shortest decimal, such as ``0.9``.

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


def _apart(given: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return a campaign's keys and, apart from them, its table of the cluster."""
    if not isinstance(given, Mapping) or CLUSTER not in given:
        return given, {}
    table = given[CLUSTER]
    if not isinstance(table, Mapping):
        raise InputError(f"{CLUSTER} is {table!r}; it must be a table with on = 'slurm' or similar")
    return {key: value for key, value in given.items() if key != CLUSTER}, table


def _trace(place: int, given: Any, folder: Path) -> Trace:
    try:
        return Trace.from_dict(given, folder)
    except InputError as error:
        raise InputError(f"traces[{place}]: {error}") from None


def _check_own(metric: str) -> None:
    if metric in METRICS:
        raise InputError(f"metric {metric!r} is in every store; leave it out")
    if metric in ON_REQUEST:
        return
    if ":" not in metric and own.entry_point(own.METRICS, metric) is None:
        raise InputError(
            f"metric {metric!r} is unknown; give {', '.join(ON_REQUEST)}, or one of your own as "
            "module:function, such as 'mine:p95_wait' for a function in mine.py next to the "
            "campaign"
        )


def _check_known(what: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise InputError(f"{what} {value!r} is unknown; {choices(value, known)}")


def _check_once(what: str, labels: Sequence[str]) -> None:
    seen = set()
    for label in labels:
        if label in seen:
            raise InputError(f"{what} names {label!r} twice; give it once")
        seen.add(label)


def _unread(error: OSError | ValueError) -> str:
    """Return the reason why a file is not a campaign."""
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    if isinstance(error, UnicodeDecodeError | tomllib.TOMLDecodeError):
        return str(error)
    # The parser of TOML raises no other ValueError.
    return "a number in it has thousands of digits; no key needs that"
