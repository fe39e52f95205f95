"""Sabin and Sadayappan, JSSPP 2005: their figures and tables, from a store."""
