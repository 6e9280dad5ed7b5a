"""What a reader's browser loads, and when."""
