"""Files that a reader's browser loads, and when it loads them."""
