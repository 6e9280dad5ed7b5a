"""The package and its peers, timed side by side in one interleaved run:
`python -m benchmarks`.
"""
