"""What the papers print where it differs from what is true: kept to be measured beside
the corrected form.
"""
