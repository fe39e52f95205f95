"""Results of Eyraud 2006 on shelves on OAR's nodes, from a store."""
