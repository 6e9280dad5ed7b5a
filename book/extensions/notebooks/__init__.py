"""Each chapter as a notebook, and what it needs to run elsewhere."""
