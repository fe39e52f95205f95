"""Independent model of hosts, slow and plain, written only from docs/semantics.md."""
