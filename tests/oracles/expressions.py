"""Give the parser of orders random texts: each is refused by a sentence, or is a policy.

    python -m tests.oracles.expressions --cases 100000 --seed 1

Texts are random characters, random words of the language, and well-formed expressions with a few
characters changed. The name of a policy is parsed again and gives the same policy, and its order a
key for each of three jobs, or a sentence. Prints how many were policies.
"""

from __future__ import annotations

import argparse
import ast
import operator
import random
import string
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.policy.expression import FUNCTIONS, OPERATIONS
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

WORDS = (*ARGUMENTS, *OPERATIONS, "else", "(", ")", "(", ")", ",", "0", "1", "2.5", "1e3", "eval")

CHARACTERS = string.printable + "\0é²٣＋\U0001f600\ud800"

JOBS = Workload.from_columns(
    submit=[0, 3, 9], run=[5, 0, 7], estimate=[6, 0, 9], procs=[1, 2, 3], processors=4
)


def written(dice: random.Random, depth: int, inputs: tuple[str, ...] = ARGUMENTS) -> str:
    """Return a well-formed expression of some inputs."""
    if depth == 0 or dice.random() < 0.2:
        return dice.choice((*inputs, "0", "3", ".5", "2e9"))
    inner = [written(dice, depth - 1, inputs) for _ in range(4)]
    return dice.choice(
        (
            f"({inner[0]} {dice.choice(('+', '-', '*', '/', '%', '**'))} {inner[1]})",
            f"-{inner[0]}",
            f"{dice.choice(FUNCTIONS[2:])}({inner[0]})",
            f"{dice.choice(FUNCTIONS[:2])}({inner[0]}, {inner[1]})",
            f"({inner[0]} if {inner[1]} {dice.choice(('<', '>=', '=='))} {inner[2]}"
            f" else {inner[3]})",
        )
    )


def _changed(dice: random.Random, text: str) -> str:
    """Return a text with up to three characters replaced, inserted or removed."""
    for _ in range(dice.randrange(4)):
        at = dice.randrange(len(text) + 1)
        text = text[:at] + dice.choice(("", *CHARACTERS)) + text[at + dice.randrange(2) :]
    return text


def by_python(text: str, given: dict[str, float]) -> float:
    """Return the value of an expression for one job, as Python's own parser reads it."""
    with np.errstate(all="ignore"):
        return float(_value(ast.parse(text.strip(), mode="eval").body, given))


def _value(node: ast.expr, given: dict[str, float]) -> Any:
    if isinstance(node, ast.Constant):
        return np.float64(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return np.float64(given[node.id])
    if isinstance(node, ast.IfExp):
        assert isinstance(node.test, ast.Compare)
        left, right = _value(node.test.left, given), _value(node.test.comparators[0], given)
        holds = _PYTHON[type(node.test.ops[0])](left, right)
        return _value(node.body if holds else node.orelse, given)
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, given)
    if isinstance(node, ast.BinOp):
        return _PYTHON[type(node.op)](_value(node.left, given), _value(node.right, given))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    values = [_value(one, given) for one in node.args]
    if node.func.id in ("min", "max"):
        # Unlike Python's own, with which a comparison of NaN is false.
        some = [value for value in values if value != value]
        return some[0] if some else {"min": min, "max": max}[node.func.id](values)
    return getattr(np, node.func.id)(*values)


_PYTHON: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: lambda x, y: (
        reduce(operator.mul, [x] * int(y)) if y in range(1, 9) else np.power(x, y)
    ),
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


def cases(count: int, seed: int) -> Iterator[str]:
    """Return random texts of policies."""
    dice = random.Random(seed)
    for k in range(count):
        length = dice.choice((3, 10, 40, 400))
        if k % 3 == 0:
            text = "".join(dice.choices(CHARACTERS, k=length))
        elif k % 3 == 1:
            text = dice.choice(("", " ")).join(dice.choices(WORDS, k=length))
        else:
            text = _changed(dice, written(dice, dice.randrange(5)))
        yield dice.choice((f"({text})+easy", f"({text})+easy", f"({text}", f"{text}+easy", text))


def tried(text: str) -> bool:
    """Return whether a text is a policy; anything but a sentence that refuses it is raised."""
    try:
        policy = Policy.parse(text)
    except InputError:
        return False
    assert Policy.parse(policy.name) == policy
    assert Policy.parse(policy.name).name == policy.name
    function = find_order(policy.order).function
    if function is not None and policy.order.startswith("("):
        sums = {name: np.array([0, 4, 0]) for name in ("waited", "worked")}
        with suppress(InputError):
            assert function.key(JOBS, slice(None), 9, sums).size == len(JOBS)
    return True


def main() -> None:
    """Try as many texts as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    policies = sum(tried(text) for text in cases(options.cases, options.seed))
    sys.stdout.write(f"{policies} of {options.cases} texts are policies; the others are refused\n")


if __name__ == "__main__":
    main()
