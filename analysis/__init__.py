"""Questions to a store: bands, comparisons, tables and figures.

Stores are read by their documented format alone. The names below are the door of the package;
matplotlib is imported when a figure is asked for, not before.
"""

from analysis.bands import bands, gains, weekly_bands
from analysis.errors import StoreError
from analysis.figures import weekly_bands_figure
from analysis.store import open_summary, open_trace, open_tree
from analysis.tables import table, table_csv, table_text

__all__ = [
    "StoreError",
    "bands",
    "gains",
    "open_summary",
    "open_trace",
    "open_tree",
    "table",
    "table_csv",
    "table_text",
    "weekly_bands",
    "weekly_bands_figure",
]
