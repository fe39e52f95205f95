"""A store as its store.json describes it, and the checksum of this file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product as combinations
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block, Layout
from schedfarm.core.format.names import CAMPAIGN, COPY, MANIFEST, is_plain
from schedfarm.core.format.retention import RETENTION
from schedfarm.core.format.version import FORMAT, SEAL, VERSION, seal
from schedfarm.core.own import source_digest, sources
from schedfarm.core.policy.orders import revised_orders
from schedfarm.core.policy.rules import COUNTS
from schedfarm.farm.store.files import Unavailable
from schedfarm.farm.store.logs import log_name
from schedfarm.farm.store.place import Place, Where, place_of
from schedfarm.farm.store.product import KEPT, PRODUCTS, Holding, is_had
from schedfarm.farm.store.shape import Shape, remembered


@dataclass(frozen=True, kw_only=True)
class Store(Shape):
    """Describe one store: its location, its campaign and the shape of its arrays.

    The other parameters are those of `farm.store.shape.Shape`.

    Parameters
    ----------
    place : Place
        Location.
    campaign : str
        Name of its campaign.
    text : str
        The campaign in canonical form, as of the last run; no result depends on it.
    settings : mapping
        Settings that, together with its coordinates, determine a cell: seed, tau, draw and load_by,
        and warmup and cooldown if they exclude jobs.
    own : mapping of str to str, optional
        Text of each module with plug-in orders, rules or metrics.
    acknowledgements : mapping of str to str, optional
        Acknowledgement of each trace's log, if known.
    cautions : mapping of str to mapping, optional
        Reasons to doubt results of a trace, as sentences by key; no result depends on them. Stores
        of earlier programs have no cautions.
    precision : mapping, optional
        Finished rounds of a campaign with requested precision, and the intervals of the last one:
        `farm.planning.rounds.Verdict.to_dict`. No result depends on it.
    labels : mapping, optional
        Origin and values of traces and policies that were expanded from axes of the campaign:
        `farm.campaign.campaign.Campaign.labels`. No result depends on it.
    """

    place: Place
    campaign: str
    text: str
    settings: Mapping[str, Any]
    own: Mapping[str, str] = field(default_factory=dict)
    acknowledgements: Mapping[str, str] = field(default_factory=dict)
    cautions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    precision: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, store: Where) -> Store:
        """Open an existing store, by its folder or address.

        Raises
        ------
        InputError
            If the store does not exist, its description has been altered, or its format is not this
            program's.
        """
        place = place_of(store)
        try:
            return cls.from_bytes(place, place.read(MANIFEST))
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"{place} is not a store: it has no {MANIFEST}") from None
        except Unavailable:
            raise
        except OSError as error:
            raise InputError(f"store {place} cannot be read: {error.strerror}") from None

    @classmethod
    def from_bytes(cls, place: Place, data: bytes) -> Store:
        """Read the text of a store.json; `InputError` for the reasons of `open`."""
        try:
            return cls._from_plain(place, unsealed(place, data))
        except InputError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{place.at(MANIFEST)} lacks an entry of a store, or has it in another form "
                f"({error!r}); farm run did not write it, so leave it alone"
            ) from None

    @classmethod
    def _from_plain(cls, place: Place, plain: Mapping[str, Any]) -> Store:
        _check_known(place, plain["holds"])
        of_each = ("sources", "layouts", "jobs", "weeks", "users")
        for key, trace in combinations(of_each, plain["axes"]["trace"]):
            if trace not in plain[key]:
                raise KeyError(f"{key} of {trace}")
        return cls(
            place=place,
            campaign=plain["campaign"],
            text=plain["text"],
            settings=plain["settings"],
            axes={k: tuple(v) for k, v in plain["axes"].items()},
            sources=plain["sources"],
            holds={k: Holding.from_dict(v) for k, v in plain["holds"].items()},
            layouts={k: Layout.from_dict(v) for k, v in plain["layouts"].items()},
            jobs=plain["jobs"],
            weeks={
                k: {load: (n, m) for load, (n, m) in v.items()} for k, v in plain["weeks"].items()
            },
            users={k: tuple(v) for k, v in plain["users"].items()},
            own={k: v["text"] for k, v in plain["own"].items()},
            acknowledgements=plain["acknowledgements"],
            cautions=plain.get("cautions", {}),
            keep=_known_keep(plain["keep"]),
            precision=plain.get("precision", {}),
            labels=plain.get("labels", {}),
        )

    @property
    def policy_names(self) -> dict[str, str]:
        """Name of each policy with a name from the campaign, by label."""
        origins = self.labels.get("policy", {}).items()
        return {label: one["name"] for label, one in origins if "name" in one}

    @cached_property
    def identity(self) -> str:
        """Digest of the settings that define the store's cells, independent of the axes."""
        text = json.dumps([self.campaign, dict(self.settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """SHA-256 of the campaign's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def holding_digest(self, block: Block) -> str:
        """Return the digest of the array names and plug-in metrics in a block's record."""
        return self._holding_digest(block.trace, block.kind)

    @remembered
    def _holding_digest(self, trace: str, kind: str) -> str:
        holding, platform = self.holds[kind], self.platform(trace)
        lines = [
            f"{v.name} {self.own.get(v.of.partition(':')[0], '') if ':' in v.of else ''}"
            for v in (*holding.arrays, *holding.figures)
            if v.name not in KEPT and v.name not in COUNTS and is_had(v, platform)
        ]
        text = "\n".join(sorted(lines))
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @remembered
    def definition_digest(self, policies: tuple[str, ...]) -> str:
        """Return the digest of the definitions of policies, in addition to their names.

        Definitions are the text of plug-in orders and rules, and the revisions of built-in orders.
        The digest is empty without either. Raises `InputError` if a module of an installed package
        is missing.
        """
        with sources(self.own):
            own = source_digest(policies)
        revisions = (f"{name} {number}" for name, number in revised_orders(policies).items())
        lines = "\n".join([own, *revisions])
        # First revisions are left out, so that records of earlier programs remain valid.
        return own if lines == own else hashlib.sha256(lines.encode()).hexdigest()[:16]

    def log_name(self, trace: str) -> str | None:
        """Return the name of the file with the columns of a trace's log; None for a model."""
        return log_name(self.sources[trace])

    def to_bytes(self) -> bytes:
        """Return the text of store.json, sealed with a CRC-32 of the other entries."""
        plain = {
            "campaign": self.campaign,
            "text": self.text,
            "sha256": self.digest,
            "settings": dict(self.settings),
            "keep": self.keep,
            "axes": {k: list(v) for k, v in self.axes.items()},
            "sources": {k: dict(v) for k, v in self.sources.items()},
            "holds": {k: v.to_dict() for k, v in self.holds.items()},
            "layouts": {k: asdict(v) for k, v in self.layouts.items()},
            "jobs": dict(self.jobs),
            "weeks": {k: dict(v) for k, v in self.weeks.items()},
            "users": {k: list(v) for k, v in self.users.items()},
            "own": {
                k: {"sha256": hashlib.sha256(v.encode()).hexdigest(), "text": v}
                for k, v in self.own.items()
            },
            "acknowledgements": dict(self.acknowledgements),
        }
        if self.cautions:
            # Stores of earlier programs have no checksum but remain valid.
            plain["cautions"] = {k: dict(v) for k, v in self.cautions.items()}
        if self.precision:
            plain["precision"] = dict(self.precision)
        if self.labels:
            plain["labels"] = dict(self.labels)
        return sealed(plain)

    def save(self) -> None:
        """Write store.json, the campaign, and the copy from which `farm verify` restores both."""
        manifest = self.to_bytes()
        self.place.write(COPY, manifest)
        self.place.write(CAMPAIGN, self.text.encode())
        self.place.write(MANIFEST, manifest)


def sealed(plain: Mapping[str, Any]) -> bytes:
    """Return the text of a store.json: format, version, the given entries, and their CRC-32."""
    whole = {"format": FORMAT, "version": VERSION, **plain}
    return json.dumps({**whole, SEAL: seal(whole)}, indent=1).encode()


def unsealed(place: Place, data: bytes) -> dict[str, Any]:
    """Return the entries in a text that `sealed` returned.

    Raises `InputError` if the text is not a store.json, has been altered, or has another format.
    """
    try:
        plain: dict[str, Any] = json.loads(data)
        found, version, stated = plain["format"], plain["version"], plain.pop(SEAL, None)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{place.at(MANIFEST)} does not describe a store; 'farm verify {place} --repair' "
            "restores it from its copy"
        ) from None
    if found != FORMAT or version != VERSION:
        older = found == FORMAT and isinstance(version, int) and version < VERSION
        remedy = (
            "run its campaign into a new folder; farm bands and xarray can still read this one"
            if older
            else "use a newer one"
        )
        raise InputError(
            f"store {place} has format {found} version {version}; this schedfarm continues stores "
            f"of {FORMAT} version {VERSION}: {remedy}"
        )
    if stated != seal(plain):
        raise InputError(
            f"{place.at(MANIFEST)} has been altered; 'farm verify {place} --repair' restores it "
            "from its copy"
        )
    _check_names(place, plain)
    return {key: value for key, value in plain.items() if key not in ("format", "version")}


def _check_names(place: Place, plain: Mapping[str, Any]) -> None:
    """Refuse names that lead out of the store, since names become paths of files."""
    logs = (source.get("columns") for source in plain["sources"].values())
    names = [*plain["axes"]["trace"], *plain["sources"], *(log for log in logs if log is not None)]
    for holding in plain["holds"].values():
        names += [variable["name"] for variable in (*holding["arrays"], *holding["figures"])]
    for name in names:
        if not is_plain(name):
            raise InputError(
                f"{place.at(MANIFEST)} names {name!r}, which is not a name of a trace, a log or "
                "an array; farm run did not write it, so leave it alone"
            )


def _known_keep(name: str) -> str:
    if name not in RETENTION:
        raise ValueError(f"keep = {name!r}")
    return name


def _check_known(place: Place, holds: Mapping[str, Any]) -> None:
    unknown = [kind for kind in holds if kind not in PRODUCTS]
    if unknown:
        raise InputError(
            f"store {place} holds {unknown[0]!r}, which is unknown to this schedfarm; "
            "use a newer one"
        )
