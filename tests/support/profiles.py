"""Number of random cases that a run draws, and whether they are the same in every run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def load_profile() -> None:
    """Load the profile that HYPOTHESIS_PROFILE names.

    The default is the same in every run and quick, `few` is the quickest. `random` draws other
    cases in every run; pytest's --hypothesis-seed repeats one, and HYPOTHESIS_EXAMPLES says how
    many it draws.
    """
    settings.register_profile(
        "default",
        max_examples=10,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("few", settings.get_profile("default"), max_examples=2)
    settings.register_profile(
        "random",
        settings.get_profile("default"),
        max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "10")),
        derandomize=False,
        print_blob=True,
    )
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
