"""The page of a store: one HTML file with verdicts, tables and figures, which asks no network.

Not to be confused with the reports of papers (`analysis.papers`), whose figures and claims are
fixed: the page is for any store.
"""

from schedfarm.analysis.report.contents import Asked
from schedfarm.analysis.report.markup import write

__all__ = ["Asked", "write"]
