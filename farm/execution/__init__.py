"""Execution: tasks carried out on workers, and the run that hands them out."""
