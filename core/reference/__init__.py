"""The reference: slow, obvious programs written from the text of SEMANTICS only."""
