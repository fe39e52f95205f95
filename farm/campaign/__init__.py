"""Campaigns: what an experiment asks for, and the jobs that its cells meet."""
