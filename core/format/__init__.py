"""The store's format (docs/store-format.md): names, geometry, records, retention, version.

Bytes in, arrays out: `farm` writes stores by these definitions, and `analysis` reads them by the
same.
"""
