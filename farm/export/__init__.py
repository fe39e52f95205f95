"""Export of a store's values into other formats: a row per format, and a row per kind of table."""
