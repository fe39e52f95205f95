"""Questions to a store: bands, comparisons, tables and figures.

Stores are read by their documented format alone. The names below are the door of the package;
matplotlib is imported when a figure is asked for, not before.
"""

from schedfarm.analysis.bands import all_weekly_bands, bands, gains, weekly_bands
from schedfarm.analysis.errors import NoSamplesError, StoreError, TooFewSamplesError
from schedfarm.analysis.figures import figure_notes, weekly_bands_figure
from schedfarm.analysis.groups import changes, changes_csv, changes_facts, changes_text
from schedfarm.analysis.notes import notes
from schedfarm.analysis.plain import plain, plain_facts, plain_gains, plain_text
from schedfarm.analysis.store import open_summary, open_trace, open_tree
from schedfarm.analysis.tables import table, table_csv, table_facts, table_text, tables_csv

__all__ = [
    "NoSamplesError",
    "StoreError",
    "TooFewSamplesError",
    "all_weekly_bands",
    "bands",
    "changes",
    "changes_csv",
    "changes_facts",
    "changes_text",
    "figure_notes",
    "gains",
    "notes",
    "open_summary",
    "open_trace",
    "open_tree",
    "plain",
    "plain_facts",
    "plain_gains",
    "plain_text",
    "table",
    "table_csv",
    "table_facts",
    "table_text",
    "tables_csv",
    "weekly_bands",
    "weekly_bands_figure",
]
