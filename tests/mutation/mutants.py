"""Random mutants of a subject's modules, as Cosmic Ray makes them."""

from __future__ import annotations

import ast
import os
import random
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec

from tests.mutation.subjects import Subject

WITHOUT_MEANING = ("core/RemoveDecorator",)
"""Operators whose mutants compute the same: decorators of kernels say how, not what."""


def mutants_of(subject: Subject, root: Path, database: Path) -> list[MutationSpec]:
    """Return every mutant of a subject that may change what is computed."""
    modules = sorted(path for pattern in subject.modules for path in root.glob(pattern))
    with use_db(str(database)) as work:
        init([Path(os.path.relpath(path, root)) for path in modules], work, {})
        found = [mutation for item in work.work_items for mutation in item.mutations]
    dead = {path: list(_spans_without_meaning(path)) for path in modules}
    return [
        one
        for one in found
        if one.operator_name not in WITHOUT_MEANING
        and not any(_inside(one, span) for span in dead[root / one.module_path])
    ]


def sample(mutants: list[MutationSpec], count: int, seed: str) -> list[MutationSpec]:
    """Draw places of the program, and one mutant of each.

    An operator such as + has ten mutants, a comparison seven and a loop one: drawn from all of
    them, nearly every mutant would be of arithmetic.
    """
    places: dict[tuple[str, tuple[int, int]], list[MutationSpec]] = {}
    for one in mutants:
        places.setdefault((str(one.module_path), one.start_pos), []).append(one)
    chance = random.Random(seed)
    drawn = chance.sample(sorted(places), min(count, len(places)))
    return [
        chance.choice(sorted(places[place], key=lambda one: (one.operator_name, one.occurrence)))
        for place in drawn
    ]


Span = tuple[tuple[int, int], tuple[int, int]]


def _spans_without_meaning(path: Path) -> Iterator[Span]:
    """Yield where annotations stand, which are not evaluated, and what is there for types alone."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        given = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            given.append(node)
        for one in given:
            if isinstance(one, ast.expr | ast.stmt):
                yield _span(one)


def _span(node: ast.expr | ast.stmt) -> Span:
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return (node.lineno, node.col_offset), end


def _inside(mutant: MutationSpec, span: Span) -> bool:
    return span[0] <= mutant.start_pos and mutant.end_pos <= span[1]
