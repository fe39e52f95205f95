"""Reference: slow, obvious programs that were written only from docs/semantics.md."""
