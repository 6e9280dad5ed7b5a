"""Formulas in the form that the papers print, for comparison with the corrected form."""
