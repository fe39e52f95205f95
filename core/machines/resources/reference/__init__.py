"""The machine again, slow and plain, from its text in docs/semantics.md alone."""
