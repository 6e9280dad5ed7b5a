"""Statements about the book's five results, as functions: bounds, laws, thresholds and
rates, each with the id of its claim in the book. Most are proved there.
"""
