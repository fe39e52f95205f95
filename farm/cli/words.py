"""Shell completion of policies, metrics, campaigns, logs and labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
"""Completion function of click."""


def policies(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a policy: its order, then its rule, then its options."""
    return _items(policy_words(begun), begun)


def policy_words(begun: str) -> list[str]:
    """Return the completions of a partial policy by one more part.

    Rules with a number are omitted, since parentheses have a meaning in shells.

    Examples
    --------
    >>> policy_words("sa"), policy_words("saf+e"), policy_words("fcfs+planned,w")
    (['saf+none', 'saf+aggressive', 'saf+easy', 'saf+conservative', 'saf+slurm', 'saf+planned', \
'saf+tabu', 'saf+demt', 'saf+ics', 'saf+logged'], ['saf+easy'], \
['fcfs+planned,walk=start', 'fcfs+planned,walk=arrival', 'fcfs+planned,walk=queue'])
    """
    from schedfarm.core import own
    from schedfarm.core.policy.orders import ORDERS
    from schedfarm.core.policy.rules import RULES

    head, comma, _ = begun.rpartition(",")
    if comma:
        return _that_begin([f"{head},{option}" for option in _options(head)], begun)
    orders = _that_begin([*ORDERS, *own.entered(own.ORDERS)], begun.partition("+")[0])
    rules = [rule for rule in (*RULES, *own.entered(own.RULES)) if "(" not in rule]
    if "+" not in begun and len(orders) > 1:
        return [f"{order}+" for order in orders]
    return _that_begin([f"{order}+{rule}" for order in orders for rule in rules], begun)


def _options(head: str) -> list[str]:
    from schedfarm.core.policy.options import OPTIONS
    from schedfarm.core.policy.policy import Policy

    known = Policy.parse(head.partition(",")[0]).known_options
    rows = [OPTIONS[name] for name in known]
    examples = [f"{row.name}={row.example}" for row in rows if not row.values]
    return [*examples, *(f"{row.name}={value}" for row in rows for value in row.values)]


def campaigns(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete built-in campaigns, and have the shell complete files."""
    from schedfarm.farm.campaign.shipped import shipped

    return _beside_files(shipped(), begun)


def searches(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete built-in searches, and have the shell complete files."""
    from schedfarm.farm.search.spec import shipped

    return _beside_files(shipped(), begun)


def logs(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete named logs, and have the shell complete files."""
    from schedfarm.farm.logs.registry import entries

    return _beside_files([entry.short for entry in entries()], begun)


def listed(names: Callable[[], Iterable[str]]) -> Complete:
    """Return a completion function for the names that `names` returns."""
    return lambda _ctx, _param, begun: _items(names(), begun)


def labels(axis: str) -> Complete:
    """Return a completion function for the labels along an axis of the store."""

    def complete(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
        store = _store(ctx)
        origins = store.get("labels", {}).get(axis, {})
        labels = store.get("axes", {}).get(axis, [])
        return _items([origins.get(one, {}).get("name", one) for one in labels], begun)

    return complete


def axes(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete an axis of the campaign of the store on the command line."""
    return _items(dict.fromkeys(axis for axis, _ in _axis_values(ctx)), begun)


def axis_values(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete AXIS=VALUE for the store on the command line."""
    return _items(dict.fromkeys(f"{axis}={value}" for axis, value in _axis_values(ctx)), begun)


def _axis_values(ctx: click.Context) -> list[tuple[str, Any]]:
    each = (one["at"] for origins in _store(ctx).get("labels", {}).values()
            for one in origins.values())  # fmt: skip
    return [pair for at in each for pair in at.items()]


def metrics(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete metrics: of the store on the command line, or without a store, of every store."""
    known = [
        figure["name"]
        for held in _store(ctx).get("holds", {}).values()
        for figure in held.get("figures", [])
    ]
    if not known:
        from schedfarm.core.metrics.declared import metrics_over
        from schedfarm.core.metrics.metric import CELL

        known = [metric.name for metric in metrics_over(CELL)]
    return _items(known, begun)


def _store(ctx: click.Context) -> dict[str, Any]:
    # The option that is being completed has no value yet, so click cannot parse the arguments.
    for name in (ctx.params.get("store"), *ctx.args):
        try:
            plain = json.loads(Path(name or "", "store.json").read_bytes())
        except (OSError, ValueError):
            continue
        return plain if isinstance(plain, dict) else {}
    return {}


def _items(words: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in _that_begin(words, begun)]


def _that_begin(words: Iterable[str], begun: str) -> list[str]:
    return [word for word in words if str(word).lower().startswith(begun.lower())]


def _beside_files(names: Iterable[str], begun: str) -> list[CompletionItem]:
    # The request for files comes first, because bash drops completions before it.
    return [CompletionItem(begun, type="file"), *_items(names, begun)]
