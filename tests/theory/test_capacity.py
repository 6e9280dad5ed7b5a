"""Mean-field storage capacities, compared with their own equations and with
simulation.
"""

import jax
import numpy as np
import pytest
from refusals import refused
from scipy.optimize import brentq
from scipy.special import erf

import rankone as ro
from rankone.theory.capacity import critical_beta, critical_load, storage_capacity


def test_critical_load_solves_the_self_consistent_equations():
    """m = erf(m/√2v), C = 2 p_h(0), v(1 − C) = √α have a solution at 0.999 of the load
    and none at 1.001 of it.
    """

    def excess(y, alpha):
        m = erf(y)
        v = m / (np.sqrt(2) * y)
        C = 2 * np.exp(-(m**2) / (2 * v**2)) / (np.sqrt(2 * np.pi) * v)
        return v * (1 - C) - np.sqrt(alpha)

    load, overlap = critical_load()
    y = np.linspace(0.5, 5, 4000)
    assert (excess(y, 0.999 * load) < 0).any() != (excess(y, 0.999 * load) < 0).all()
    assert (excess(y, 1.001 * load) < 0).all()
    # Amit, Gutfreund and Sompolinsky 1985
    assert load == pytest.approx(0.138, abs=5e-4)
    assert overlap == pytest.approx(0.967, abs=5e-4)


def test_capacity_is_where_the_fixed_point_equation_has_a_double_root():
    beta = 40.0
    D = 200

    def log_patterns(s):
        pull = beta * s / (4 * D)
        return (
            np.log((1 - s) / (s - np.tanh(pull)))
            + beta * s / 4
            - D * np.log(np.cosh(pull))
        )

    def slope(s):
        return (log_patterns(s + 1e-6) - log_patterns(s - 1e-6)) / 2e-6

    top = brentq(slope, 0.6, 0.99)
    assert storage_capacity(beta, D) == pytest.approx(
        1 + np.exp(log_patterns(top)), rel=1e-6
    )


def test_capacity_tends_to_the_closed_form_for_many_bits():
    beta = 30.0
    D = 10**6
    s = 0.5 * (1 + (1 - 16 / beta) ** 0.5)
    assert storage_capacity(beta, D) == pytest.approx(
        1 + (1 - s) / s * np.exp(beta * s / 4), rel=1e-3
    )


def test_there_is_no_capacity_below_a_beta_of_sixteen():
    assert np.isnan(storage_capacity(15.9, 10**5))
    assert storage_capacity(16.1, 10**5) > 8


def test_critical_beta_inverts_the_capacity():
    ends = ((10, 100), (500, 30), (2**31 - 1, 64), (2**31 - 1, 10**6))
    for K, D in (*ends, *((K, 1000) for K in range(50, 1000, 100))):
        beta = critical_beta(K, D)
        assert storage_capacity(beta, D) == pytest.approx(K, rel=1e-4)
        assert storage_capacity(beta, D) >= K > storage_capacity((1 - 1e-6) * beta, D)


def test_few_bits_separate_patterns_only_in_a_narrow_range_of_beta():
    """Ten bits store 106 patterns at β = 32 and 179 at 35, and there is no definite
    number at 38.
    """
    assert storage_capacity(32.0, 10) < 150 < storage_capacity(35.0, 10)
    assert np.isnan(storage_capacity(38.0, 10))
    assert 32 < critical_beta(150, 10) < 35
    with refused(ValueError, match=r"^K: got 300; it must be smaller: with 10 bits"):
        critical_beta(300, 10)


@pytest.mark.parametrize(("K", "D"), [(100, 100), (500, 100), (500, 30)])
def test_half_of_the_patterns_survive_at_the_critical_beta(K, D):
    """The β at which half of 60 patterns have a fixed point is found by bisection. The
    printed form is wrong by 8 % at D = 30.
    """
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(K + D))
    centre = 0.5 / D**0.5

    def stable_fraction(beta):
        x = ro.retrieve(
            ro.MrDAM(Xi, beta),
            Xi[:60],
            step_size=1.0,
            max_steps=300,
            tol=1e-5,
            progress=False,
        ).x
        return float((4 * ((x - centre) * (Xi[:60] - centre)).sum(-1) > 0.5).mean())

    low = 20.0
    high = 60.0
    while high - low > 0.1:
        middle = (low + high) / 2
        low, high = (low, middle) if stable_fraction(middle) > 0.5 else (middle, high)
    # This β varies by 0.3 with the random patterns.
    assert (low + high) / 2 == pytest.approx(critical_beta(K, D), rel=0.02)


def test_the_reference_stores_nothing_at_the_papers_lower_betas():
    """D-sharp6 and Fig. 4A: at K = 500 and β ≤ 30 all stored patterns flow to the mean
    pattern.
    """
    Xi = ro.data.binary_patterns(500, 100, key=jax.random.key(5))
    for beta, stored in ((10.0, False), (30.0, False), (50.0, True)):
        x = ro.retrieve(
            ro.MrDAM(Xi, beta),
            Xi[:50],
            step_size=1.0,
            max_steps=2000,
            tol=1e-7,
            progress=False,
        ).x
        at_mean = np.linalg.norm(x - Xi.mean(0)[None], axis=-1) < 0.02
        assert at_mean.any() != stored
        assert at_mean.all() != stored
    assert critical_beta(500, 1000) > 30


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: storage_capacity(-1.0, 100), "beta"),
        (lambda: storage_capacity(20.0, 0), "D"),
        (lambda: critical_beta(2, 100), "K"),
        (lambda: critical_beta(10**7, 10), "K"),
    ],
)
def test_bad_input_names_the_argument(call, argument):
    with refused(ValueError, match=f"^{argument}: got"):
        call()
