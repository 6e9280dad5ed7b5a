"""Claims, the cells that measure them, and the numbers in the text."""
