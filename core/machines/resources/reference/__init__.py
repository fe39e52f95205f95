"""Independent model of resources, slow and plain, written only from docs/semantics.md."""
