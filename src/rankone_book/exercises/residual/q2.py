"""Exercise 2: the nearest of n points on the unit interval, exactly [S-S7]."""

from rankone.theory.nearest_neighbour import nearest_neighbour_risk
from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="one stored point", points=0)
def test_one(unit_interval):
    close(ask(unit_interval, 1), 1 / 6, "E(u − v)² for independent uniform u and v.")


@test_case(name="agrees with a numerical integral for several n")
def test_exact(unit_interval, draws):
    for n in (*draws.integers(2, 20, 3).tolist(), int(draws.integers(100, 200))):
        hint = (
            "Given x, the distance exceeds t with probability (1 − length within t of "
            "x)ⁿ: mind the ends of the interval."
        )
        close(
            ask(unit_interval, n), nearest_neighbour_risk(n, 1).exact / 12, hint, atol=0
        )


@test_case(name="agrees with a simulation", points=0)
def test_simulation(unit_interval, draws):
    points = draws.uniform(size=(100_000, 5))
    square = (abs(points[:, :1] - points[:, 1:]).min(1) ** 2).mean()
    close(ask(unit_interval, 4), square, "Four stored points, one query.", rtol=0.04)
