"""What only the pages of the book need: measured claims, figures, records of experiments, exercises."""
