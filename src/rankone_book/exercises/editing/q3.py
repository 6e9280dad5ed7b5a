"""Exercise 3: leverage, when the edited key is one of the keys [R-S1]."""

import numpy as np

from rankone.editing import rank_one_edit
from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="the interference on the other keys, compared with an edit")
def test_others(interference_on_others, draws):
    for n in (6, 12):
        K = draws.normal(size=(4, n))
        W = draws.normal(size=(3, 4))
        v = draws.normal(size=3)
        edit = rank_one_edit(W, K @ K.T, K[:, 2], v)
        h = K[:, 2] @ np.linalg.solve(K @ K.T, K[:, 2])
        interference = np.sum((np.asarray(edit.delta) @ np.delete(K, 2, 1)) ** 2)
        hint = (
            "The interference on all keys together is ‖r‖²/h. The edited key itself "
            "has ‖r‖² of it."
        )
        close(ask(interference_on_others, h, v - W @ K[:, 2]), interference, hint)


@test_case(name="the leverage for a given multiple of ‖r‖²")
def test_balance(balanced_leverage, draws):
    for multiple in (1.0, *draws.uniform(0.2, 5, 3).tolist()):
        hint = "Set the interference on the others equal to the multiple of ‖r‖²."
        close(ask(balanced_leverage, multiple), 1 / (1 + multiple), hint)


@test_case(name="the leverages of all keys, and their sum")
def test_leverages(leverages, draws):
    for D, n in ((3, 8), (5, 5)):
        K = draws.normal(size=(D, n))
        values = np.asarray(ask(leverages, K))
        holds(
            values.shape == (n,),
            f"one leverage per key: shape ({n},), yours has {values.shape}.",
        )
        close(
            values.sum(),
            D,
            "They are the diagonal of Kᵀ(KKᵀ)⁻¹K, a projection of rank D.",
        )
        close(
            values,
            np.diag(K.T @ np.linalg.solve(K @ K.T, K)),
            "hⱼ = kⱼᵀC⁻¹kⱼ, with C = KKᵀ.",
        )
