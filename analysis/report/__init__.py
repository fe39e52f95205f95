"""The page of a store: one HTML file with verdicts, tables and figures that needs no network.

The page is for any store. The reports of papers (`analysis.papers`) have fixed figures and claims.
"""

from schedfarm.analysis.report.contents import Asked
from schedfarm.analysis.report.markup import write

__all__ = ["Asked", "write"]
