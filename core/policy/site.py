"""File of a site: tables of priorities, limits and scheduler options, as one policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.core.policy.limits import entries_of, is_limit
from schedfarm.core.policy.multifactor import order_of_table
from schedfarm.core.policy.options import OPTIONS
from schedfarm.core.policy.policy import Policy

_LIMITED = {"accounts": "account", "users": "user", "qos": "qos"}
"""Tables with limits in their entries, and the kind of holder in a policy's text."""


def texts_of_table(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the order, and the policy if there are limits or a table ``scheduler``.

    Examples
    --------
    >>> texts_of_table({"priority": {"age": 9}, "qos": {"high": {"MaxJobsPerUser": 8}},
    ...                 "scheduler": {"rule": "easy"}})["policy"]
    'multifactor(age=9)+easy,limits=(qos.high.MaxJobsPerUser=8)'
    >>> texts_of_table({"priority": {"age": 9}})
    {'order': 'multifactor(age=9)'}
    """
    scheduler, root = (_table(table, name) for name in ("scheduler", "root"))
    for key in root:
        if not is_limit(key):
            raise InputError(f"[root] has an unknown key {key!r}; it has limits, such as MaxJobs")
    limits = [*entries_of("root", "", root)]
    rest: dict[str, Any] = {}
    for name, entries in table.items():
        if name in ("scheduler", "root"):
            continue
        rest[name] = entries
        if name in _LIMITED and isinstance(entries, Mapping):
            rest[name] = {}
            for one, row in entries.items():
                found = [*entries_of(_LIMITED[name], one, row)] if isinstance(row, Mapping) else []
                limits += found
                left = {k: v for k, v in row.items() if not is_limit(k)} if found else row
                if name == "accounts" and found and not left:
                    # Users and child accounts of an account can be listed only if the account is
                    # listed.
                    left = {"shares": 1}
                if left or not found:
                    rest[name][one] = left
    order = order_of_table(rest)
    if not limits and not scheduler:
        return {"order": order}
    return {"order": order, "policy": _policy(order, scheduler, limits)}


def _policy(order: str, scheduler: Mapping[str, Any], limits: list[str]) -> str:
    for key in scheduler:
        if key not in OPTIONS and key != "rule":
            raise InputError(f"[scheduler] has an unknown key {key!r}; {choices(key, OPTIONS)}")
    if "rule" not in scheduler:
        raise InputError("limits and options need a rule; give [scheduler] rule = 'easy'")
    options = [f"{key}={value}" for key, value in scheduler.items() if key != "rule"]
    if limits:
        options.append(f"limits=({', '.join(limits)})")
    return Policy.parse(",".join((f"{order}+{scheduler['rule']}", *options))).name


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{name}={found!r} is not a table; write [{name}]")
    return found
