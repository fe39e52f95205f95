"""Queries on stores: bands, comparisons, tables and figures.

Stores are read only by their documented format. matplotlib is imported when a figure is drawn.
"""

from schedfarm.analysis.axes import unfold
from schedfarm.analysis.bands import all_weekly_bands, bands, weekly_bands
from schedfarm.analysis.compare import compare, compare_values, losers
from schedfarm.analysis.comparison_figure import comparison_figure
from schedfarm.analysis.comparison_warnings import comparison_warnings
from schedfarm.analysis.errors import (
    NoSamplesError,
    NoValuesError,
    StoreError,
    TooFewSamplesError,
)
from schedfarm.analysis.explanation_figure import explanation_figure
from schedfarm.analysis.figures import figure_notes, weekly_bands_figure
from schedfarm.analysis.groups import changes, changes_csv, changes_facts, changes_text
from schedfarm.analysis.notes import notes
from schedfarm.analysis.plain import plain, plain_facts, plain_text
from schedfarm.analysis.plots.kinds import plot
from schedfarm.analysis.store import open_summary, open_trace, open_tree
from schedfarm.analysis.tables import table, table_csv, table_facts, table_text, tables_csv
from schedfarm.analysis.validation import distances, validation
from schedfarm.analysis.verdicts import (
    comparison_csv,
    comparison_facts,
    comparison_frame,
    comparison_latex,
    comparison_text,
    verdicts,
)
from schedfarm.analysis.workloads import characteristics

__all__ = [
    "NoSamplesError",
    "NoValuesError",
    "StoreError",
    "TooFewSamplesError",
    "all_weekly_bands",
    "bands",
    "changes",
    "changes_csv",
    "changes_facts",
    "changes_text",
    "characteristics",
    "compare",
    "compare_values",
    "comparison_csv",
    "comparison_facts",
    "comparison_figure",
    "comparison_frame",
    "comparison_latex",
    "comparison_text",
    "comparison_warnings",
    "distances",
    "explanation_figure",
    "figure_notes",
    "losers",
    "notes",
    "open_summary",
    "open_trace",
    "open_tree",
    "plain",
    "plain_facts",
    "plain_text",
    "plot",
    "table",
    "table_csv",
    "table_facts",
    "table_text",
    "tables_csv",
    "unfold",
    "validation",
    "verdicts",
    "weekly_bands",
    "weekly_bands_figure",
]
