"""Tsafrir, Etsion and Feitelson (IEEE TPDS 2007): EASY++ and its parts."""
