"""Exercise 7: how many keys to estimate C from [R-S3]."""

from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="the mean inflation")
def test_inflation(mean_inflation, draws):
    for D in draws.integers(2, 50, 4).tolist():
        n = D + int(draws.integers(1, 100))
        hint = (
            "1/ρ is 1 plus a ratio of independent chi-squares: take the mean of each."
        )
        close(ask(mean_inflation, n, D), (n - 1) / (n - D), hint)


@test_case(name="the number of keys for a given target")
def test_keys(keys_needed, draws):
    for target, D in zip(
        draws.uniform(1.01, 3, 4).tolist(), (2, 20, 150, 1536), strict=True
    ):
        n = D
        while n == D or (n - 1) / (n - D) > target:
            n += 1
        close(
            ask(keys_needed, target, D),
            n,
            "Set the mean inflation equal to the target, solve for n, round up.",
            rtol=0,
        )


@test_case(name="your number of keys is enough, and one fewer is not")
def test_least(keys_needed, draws):
    for target, D in zip(draws.uniform(1.05, 3, 3).tolist(), (50, 11, 4), strict=True):
        n = ask(keys_needed, target, D)
        holds(
            n > D,
            f"{n} keys in {D} dimensions: with at most as many keys as dimensions the "
            "mean is infinite.",
        )
        inflation = (n - 1) / (n - D)
        holds(
            inflation <= target + 1e-9,
            f"with your {n} keys the inflation is {inflation:.4f}, above {target}.",
        )
        if n - 1 > D:
            holds(
                (n - 2) / (n - 1 - D) > target - 1e-9,
                f"{n - 1} keys are enough: round up, and no further.",
            )
