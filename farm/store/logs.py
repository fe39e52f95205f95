"""A log's columns as a store keeps them: one compressed npz file, without pickles."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from core.workload.workload import COLUMNS, Workload


def load_log(path: Path) -> Workload:
    """Read the columns of a log back from a store."""
    with np.load(path, allow_pickle=False) as columns:
        return Workload(
            **{c: columns[c] for c in COLUMNS},
            killed=columns["killed"],
            processors=int(columns["processors"]),
            max_estimate=int(columns["max_estimate"]),
            name=path.stem,
        )


def log_bytes(log: Workload) -> bytes:
    """Return the columns of a log as a compressed npz file without pickles."""
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        **{c: getattr(log, c) for c in COLUMNS},
        killed=log.killed,
        processors=log.processors,
        max_estimate=log.max_estimate,
    )
    return stream.getvalue()
