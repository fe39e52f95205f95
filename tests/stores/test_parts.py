"""Parts of a campaign, in stores of their own, are together what the whole is."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from schedfarm import farm


def campaign(name: str, *traces: str) -> farm.Campaign:
    return farm.Campaign(
        name=name,
        traces=tuple(
            farm.Trace(name=one, model="lublin", processors=64 * len(one), jobs=80)
            for one in traces
        ),
        policies=("fcfs+easy", "saf+easy"),
        loads=("0.7", "0.9"),
        resamples=3,
        seed=3,
    )


def test_one_trace_each(tmp_path: Path) -> None:
    """To the bit, in every variable of the summary."""
    for name, traces in (("whole", ("a", "bb")), ("first", ("a",)), ("second", ("bb",))):
        farm.run(campaign(name, *traces), tmp_path / name)
    whole, *parts = (
        farm.open(tmp_path / name).to_dataset() for name in ("whole", "first", "second")
    )
    together = xr.concat(parts, "trace")
    assert set(together.data_vars) == set(whole.data_vars)
    assert all(whole[name].equals(together[name]) for name in whole.data_vars)
