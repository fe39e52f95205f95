"""Klusacek and Rudova, JSSPP 2012: their figures, from a store."""
