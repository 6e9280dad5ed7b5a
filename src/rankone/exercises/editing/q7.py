"""Exercise 7: how many keys to estimate C from [R-S3]."""

from otter.test_files import test_case

from rankone.exercises import ask, close, holds

OK_FORMAT = False
name = "q7"
points = 3


@test_case(name="the mean inflation")
def test_inflation(mean_inflation):
    for n, D in ((39, 20), (40, 20), (300, 7), (5, 2)):
        hint = "1/ρ = 1 + χ²_{D−1}/χ²_{n−D+2}, and E 1/χ²_p = 1/(p − 2)."
        close(ask(mean_inflation, n, D), (n - 1) / (n - D), hint)


@test_case(name="keys for a given target")
def test_keys(keys_needed):
    for target, D, n in ((1.1, 20, 210), (2, 20, 39), (1.1, 1536, 16886), (1.01, 3, 203)):
        close(ask(keys_needed, target, D), n, "Solve (n − 1)/(n − D) ≤ target, and round up.", rtol=0)


@test_case(name="one key fewer would not do")
def test_least(keys_needed):
    for target, D in ((1.3, 11), (1.05, 50), (3, 4)):
        n = ask(keys_needed, target, D)
        inflation = (n - 1) / (n - D)
        holds(inflation <= target + 1e-9, f"with your {n} keys the inflation is {inflation:.4f}, above {target}.")
        if n - 1 > D:
            holds((n - 2) / (n - 1 - D) > target - 1e-9, f"{n - 1} keys would do: round up, and no further.")
