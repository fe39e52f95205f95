"""What Eyraud 2006 shows of shelves on OAR's nodes, from a store."""
