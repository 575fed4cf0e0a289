"""A pairwise covering array: every pair of values of any two factors occurs in some row.

Greedy, after D. M. Cohen, S. R. Dalal, M. L. Fredman and G. C. Patton, "The AETG System", IEEE TSE 23(7), 1997, with all
rows as candidates instead of random ones: few enough here, and the same array every time.
"""

import itertools


def pairs_of(row):
    """The pairs of (factor, value) in a row, which is a dict from factor to value."""
    return set(itertools.combinations(sorted(row.items(), key=lambda item: item[0]), 2))


def covering_array(factors):
    """Rows that cover every pair; `factors` maps a factor's name to its values."""
    rows = [dict(zip(factors, values)) for values in itertools.product(*factors.values())]
    left = set().union(*(pairs_of(row) for row in rows))
    chosen = []
    while left:
        best = max(rows, key=lambda row: len(pairs_of(row) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return chosen
