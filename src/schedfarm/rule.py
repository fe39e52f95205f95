"""Functions for user-defined rules, as in ``from schedfarm.rule import fits, start``.

See "Your own rule" in the documentation.
"""

from schedfarm.core.policy.custom_rule import (
    State,
    block,
    earliest,
    example_state,
    fits,
    free,
    reserve,
    start,
)

__all__ = ["State", "block", "earliest", "example_state", "fits", "free", "reserve", "start"]
