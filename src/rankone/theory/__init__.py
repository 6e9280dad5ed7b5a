"""Proved statements about the five results, as functions: bounds, laws, thresholds and
rates, each with its claim.
"""
