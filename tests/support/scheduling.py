"""A plugin of pytest: which tests xdist hands to the same worker under ``--dist loadgroup``.

Tests of one file share its servers, so that they are run by one worker. The tests of a file that
is `SPREAD` go to any worker, but for those whose id names a group: ``test[value @group]``.

Marks of the kind ``xdist_group`` do not do this: xdist 3.8 appends a group to a private attribute
of an item, which pytest 9.2 no longer has, and then gives every single test to any worker.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

SPREAD = ("tests/crash/test_failures.py", "tests/crash/test_workers_lost.py")
"""Files whose tests wait for long and share little."""

GROUPS = {
    "tests/crash/test_power_cut.py": "power",
    "tests/crash/test_random_failures.py": "outside",
    # Jobs of one Slurm would delay the starts of the other.
    "tests/real/test_slurm.py": "slurm",
    "tests/real/test_slurm_judge.py": "slurm",
    "tests/real/test_slurm_reservations.py": "slurm",
}
"""Files that belong to a group of such ids."""

LONG = (
    "tests/real/test_slurm.py",
    "tests/real/test_slurm_judge.py",
    "tests/docs/test_howto.py",
    "tests/docs/test_readme.py",
    "tests/real/test_network_cut.py",
    "tests/crash/test_random_failures.py",
    "tests/real/test_warm_kernels.py",
    "tests/real/test_bucket.py",
)
"""Files that take minutes in one worker: they come first, or the others would wait for them."""

GROUP = re.compile(r"@(\w+)\]$")


def scope(nodeid: str) -> str:
    """Return the name that a test shares with those that have to run in its worker."""
    if group := GROUP.search(nodeid):
        return group[1]
    file = nodeid.partition("::")[0]
    return nodeid if file in SPREAD else GROUPS.get(file, file)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.nodeid.partition("::")[0] not in LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByScope(LoadScopeScheduling):  # type: ignore[misc]
        """Hand tests of one scope to one worker."""

        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    # xdist would begin with the scopes of most tests, which are short ones.
    config.option.loadscopereorder = False
    return ByScope(config, log)
