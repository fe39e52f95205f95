"""`sacctmgr show assoc`: accounts, their users, shares and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.columns import Limits, Others, columns_of
from schedfarm.farm.site.dump.facts import Fact, whole
from schedfarm.farm.site.dump.tables import Row, rows_of

ROOT = "root"
"""Account above all others."""

READ = ("cluster", "account", "parentname", "user", "share")
"""Columns with a reader of their own, which are neither limits nor ignored."""


@dataclass(frozen=True)
class Association:
    """Hold an association of an account or user: its parent, shares, limits and other columns.

    inherits: whether the shares are those of the parent account, FairShare=parent.
    """

    parent: str
    shares: Fact[int]
    inherits: bool = False
    limits: Limits = field(default_factory=dict)
    others: Others = field(default_factory=dict)


@dataclass(frozen=True)
class Associations:
    """Hold accounts by name, each after its parent, and users by (user, account).

    flat: whether the table lacks the names of parents, so that every account is below the root.
    root: the association above all others, if the table has it.
    """

    clusters: tuple[str, ...]
    accounts: Mapping[str, Association]
    users: Mapping[tuple[str, str], Association]
    flat: bool
    root: Association | None = None


def read_associations(path: Path) -> Associations:
    """Read the associations of a cluster."""
    rows = list(rows_of(path, ("account", "user", "share")))
    clusters = tuple(dict.fromkeys(row.get("cluster") for row in rows if row.get("cluster")))
    if len(clusters) > 1:
        raise InputError(
            f"{path} has the associations of {len(clusters)} clusters, {', '.join(clusters)}; "
            f"print one of them with cluster={clusters[0]}"
        )
    flat = rows != [] and "parentname" not in rows[0].fields
    root: Association | None = None
    accounts: dict[str, Association] = {}
    users: dict[tuple[str, str], Association] = {}
    for row in rows:
        account, user = row.get("account"), row.get("user")
        one = _association(row, account)
        if user:
            users.setdefault((user, account), one)
        elif account == ROOT:
            root = one
        else:
            accounts[account] = one
    for user, account in users:
        if account != ROOT and account not in accounts:
            raise InputError(
                f"{path}: user {user!r} is in account {account!r}, which has no row of its own; "
                "print the table without user="
            )
    return Associations(clusters, _sorted(path, accounts), users, flat, root)


def _association(row: Row, account: str) -> Association:
    where, share = f"{row.where}, Share", row.get("share")
    inherits = share.lower() == "parent"
    shares = Fact(1 if inherits else whole(where, share or "1"), where)
    parent = "" if row.get("user") else row.get("parentname")
    limits, others = columns_of(row, READ)
    above = "" if parent in ("", ROOT, account) else parent
    return Association(above, shares, inherits, limits, others)


def _sorted(path: Path, accounts: Mapping[str, Association]) -> dict[str, Association]:
    """Return the accounts, each after its parent."""
    found: dict[str, Association] = {}
    for name in accounts:
        chain = [name]
        while (above := accounts[chain[-1]].parent) and above not in found:
            if above not in accounts or above in chain:
                fault = "is below itself" if above in chain else "has no row"
                raise InputError(
                    f"{path}: account {above!r}, above {chain[-1]!r}, {fault}; print the table of "
                    "all accounts again"
                )
            chain.append(above)
        found.update({one: accounts[one] for one in reversed(chain) if one not in found})
    return found
