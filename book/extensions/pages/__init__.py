"""Parts of a page of the book beside its text."""
