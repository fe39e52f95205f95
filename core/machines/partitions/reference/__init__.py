"""Independent model of partitions, slow and plain, written only from docs/semantics.md."""
