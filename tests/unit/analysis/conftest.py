"""A small store of the documented format, built by zarr alone, with awkward parts.

Two traces (ALPHA of five weeks, BETA of three, each with an entry for later ends), the log and ten
samples, two loads, three policies. The mean wait of sample r is ORDER[r] x the policy's factor x
the load's; resample 0 has a wait that no sample has. One cell failed: (BETA, resample 4, 0.9,
saf+easy).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarr

ORDER = np.array([999, 3, 1, 10, 7, 5, 2, 9, 4, 8, 6])
LOADS = {"original": 1, "0.9": 100}
POLICIES = {"fcfs+easy": 2.0, "saf+easy": 1.0, "spf+easy": 1.0}
WEEKS = {"ALPHA": 5, "BETA": 3}
FAILED = (4, 1, 1)
MEANS = {"wait": "s", "bounded_slowdown": "1"}
COORDS: dict[str, npt.NDArray[Any]] = {
    "trace": np.array(list(WEEKS), dtype=object),
    "resample": np.arange(11),
    "load": np.array(list(LOADS), dtype=object),
    "policy": np.array(list(POLICIES), dtype=object),
}


def write(
    group: zarr.Group, name: str, dims: tuple[str, ...], values: npt.NDArray[Any], **attrs: Any
) -> None:
    kind = "str" if values.dtype == object else values.dtype
    array = group.create_array(
        name, shape=values.shape, dtype=kind, dimension_names=dims, attributes=attrs
    )
    array[...] = values


def write_coords(group: zarr.Group, *names: str) -> None:
    for name in names:
        write(group, name, (name,), COORDS[name])


def cell_means() -> npt.NDArray[np.float64]:
    """Mean of a cell, float64[resample, load, policy]."""
    loads, factors = np.array(list(LOADS.values())), np.array(list(POLICIES.values()))
    return np.asarray(ORDER[:, None, None] * loads[:, None] * factors)


def write_root(root: zarr.Group) -> None:
    cells = ("trace", "resample", "load", "policy")
    write_coords(root, *cells)
    means = np.stack([cell_means(), cell_means()])
    means[(1, *FAILED)] = np.nan
    for metric, unit in MEANS.items():
        name = "mean " + metric.replace("_", " ")
        write(root, metric, cells, means, units=unit, long_name=name)
    jobs = np.full((2, 11, 2), 50)
    jobs[1, 4, 1] = 0
    write(root, "jobs", cells[:3], jobs, units="1", long_name="jobs simulated")


def write_trace(root: zarr.Group, trace: str) -> None:
    """One week alone, w, has a mean of w x a part, so that the mean over all is the cell's."""
    group = root.create_group(trace)
    write_coords(group, "resample", "load", "policy")
    cells, weeks = ("resample", "load", "policy"), WEEKS[trace]
    write(group, "week", ("week",), np.arange(1, weeks + 2))
    jobs = np.full((11, 2, 3, weeks + 1), 10)
    # The last entry is for what ends later: nothing.
    jobs[..., -1] = 0
    # The first sample ends no job in week 1, and most of its jobs in week 2.
    jobs[1, :, :, 0], jobs[1, :, :, 1] = 0, 20
    shape = np.append(np.linspace(0.5, 1.5, weeks), np.nan)
    means = cell_means()[..., None] * shape * np.ones(jobs.shape)
    means[1, ..., :-1] = cell_means()[1][..., None]
    means[jobs == 0] = np.nan
    starts = np.full((11, 2, 3, 8), -1)
    starts[..., :5] = np.arange(5)
    if trace == "BETA":
        jobs[FAILED], means[FAILED], starts[FAILED] = 0, np.nan, -1
    write(group, "week_jobs", (*cells, "week"), jobs, units="1", long_name="jobs that ended")
    for metric, unit in MEANS.items():
        write(group, f"week_{metric}", (*cells, "week"), means, units=unit, long_name="by week")
    write(group, "start", (*cells, "job"), starts, units="s", long_name="start instant")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small store, written once."""
    folder = tmp_path_factory.mktemp("written") / "store"
    folder.mkdir()
    (folder / "store.json").write_text(json.dumps({"format": "schedfarm-store", "version": 1}))
    root = zarr.open_group(folder / "results.zarr", mode="w", zarr_format=3)
    write_root(root)
    for trace in WEEKS:
        write_trace(root, trace)
    return folder


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Path:
    """A copy of the small store that a test may change."""
    return Path(shutil.copytree(written, tmp_path / "store"))
