"""The store's format (docs/store-format.md): names, geometry, records, retention, version.

Both `farm`, which writes stores, and `analysis`, which reads them, use these definitions.
"""
