"""The linear system of an edit, by hand. The rest of the module is tested with the
edits.
"""

import numpy as np

from rankone.theory.lagrangian import kkt_matrix


def test_the_kkt_matrix_of_one_weight_equals_hand_values():
    """½(2w − v₀)² subject to 3w = v: 4w − 3λ = 2v₀ and 3w = v."""
    np.testing.assert_array_equal(
        kkt_matrix(np.array([[2.0]]), np.array([3.0]), 1), [[4, -3], [3, 0]]
    )
