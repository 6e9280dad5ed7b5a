"""The one operation of the book: a write adds value − prediction ⊗ geometry · key to a memory."""
