"""The machine again, slow and plain, written from docs/semantics.md only."""
