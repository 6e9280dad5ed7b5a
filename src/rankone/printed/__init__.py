"""Formulas that the papers print in another form, kept to be measured beside the
corrected form.
"""
