"""Families of small tasks: sines, cubic polynomials, and classes of letters.

A family is called with a key and returns one `Task`; `jax.vmap` over keys makes a
batch.
"""

from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Real

from rankone._checks import brief, choice, integer, numbers, random_key, real
from rankone._module import Module
from rankone.data import letters

__all__ = ["LetterTasks", "PolynomialTasks", "SineTasks", "Task"]


class Task(Module):
    """One task: examples to learn from, queries to be scored on, and the description
    that an oracle gets.

    Attributes:
        x: Inputs of the examples (shots, inputs). For n tasks, each array has a leading
            axis, here (n, shots, inputs).
        y: Values of the examples (shots, outputs).
        x_query: Inputs of the queries (queries, inputs).
        y_query: Values of the queries (queries, outputs).
        description: Parameters of the task for an oracle (p,); p may be 0.
    """

    x: Real[Array, "*n shots inputs"]
    y: Real[Array, "*n shots outputs"]
    x_query: Real[Array, "*n queries inputs"]
    y_query: Real[Array, "*n queries outputs"]
    description: Real[Array, "*n p"]

    def __post_init__(self) -> None:
        names = ("x", "y", "x_query", "y_query", "description")
        for name in names:
            setattr(self, name, numbers(name, getattr(self, name)))
        for x, y in (("x", "y"), ("x_query", "y_query")):
            rows = getattr(self, x).shape
            output_shape = getattr(self, y).shape
            if len(rows) < 2:
                raise ValueError(
                    f"{x}: got shape {rows}; "
                    "it must be an array of shape (examples, inputs)."
                )
            if output_shape[:-1] != rows[:-1]:
                raise ValueError(
                    f"{y}: got shape {output_shape}; "
                    f"it must be an array of shape {rows[:-1]} + (outputs,)."
                )


Range = tuple[float, float]


def _range(name: str, bounds: Range) -> None:
    requirement = "a pair (least, greatest)"
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ValueError(f"{name}: got {brief(bounds)}; it must be {requirement}.")
    low, high = (real(name, bound, requirement) for bound in bounds)
    if not (low is None or high is None or -np.inf < low <= high < np.inf):
        raise ValueError(f"{name}: got {brief(bounds)}; it must be {requirement}.")


def _counts(shots: int, queries: int) -> tuple[int, int]:
    return (
        integer("shots", shots, "at least 1 example to learn from"),
        integer("queries", queries, "at least 1 example to be judged on"),
    )


class SineTasks(Module):
    """Tasks of sine waves y = A sin(x − φ) on x ∈ [−5, 5]. The description for an
    oracle is (A, φ).

    Attributes:
        shots: Number of examples to learn from.
        queries: Number of examples to be scored on.
        amplitude: Range of A; the range of meta-training is [0.1, 5].
        phase: Range of φ in radians; the range of meta-training is [0, π].

    >>> import jax
    >>> SineTasks(shots=3)(jax.random.key(0))
    Task(x=f32[3,1], y=f32[3,1], x_query=f32[20,1], y_query=f32[20,1], description=f32[2])
    """

    shots: int = eqx.field(static=True, default=5)
    queries: int = eqx.field(static=True, default=20)
    amplitude: Range = (0.1, 5.0)
    phase: Range = (0.0, float(np.pi))

    def __post_init__(self) -> None:
        self.shots, self.queries = _counts(self.shots, self.queries)
        _range("amplitude", self.amplitude)
        _range("phase", self.phase)

    def __call__(self, key: Array) -> Task:
        """One wave of random amplitude and phase, at random places."""
        random_key("key", key)
        return _wave(key, self.amplitude, self.phase, self.shots, self.queries)


@partial(jax.jit, static_argnames=("shots", "queries"))
def _wave(
    key: Array, amplitudes: Range, phases: Range, shots: int, queries: int
) -> Task:
    k_amplitude, k_phase, k_x = jax.random.split(key, 3)
    amplitude = jax.random.uniform(
        k_amplitude, minval=amplitudes[0], maxval=amplitudes[1]
    )
    phase = jax.random.uniform(k_phase, minval=phases[0], maxval=phases[1])
    x = jax.random.uniform(k_x, (shots + queries, 1), minval=-5.0, maxval=5.0)
    y = amplitude * jnp.sin(x - phase)
    return Task(
        x[:shots], y[:shots], x[shots:], y[shots:], jnp.stack([amplitude, phase])
    )


class PolynomialTasks(Module):
    """Tasks of cubic polynomials on x ∈ [−3, 3] with coefficients uniform in [−1, 1].
    The description for an oracle is the four coefficients.

    Attributes:
        shots: Number of examples to learn from.
        queries: Number of examples to be scored on.
    """

    shots: int = eqx.field(static=True, default=40)
    queries: int = eqx.field(static=True, default=40)

    def __post_init__(self) -> None:
        self.shots, self.queries = _counts(self.shots, self.queries)

    def __call__(self, key: Array) -> Task:
        """One random cubic, at random places."""
        random_key("key", key)
        return _cubic(key, self.shots, self.queries)


@partial(jax.jit, static_argnames=("shots", "queries"))
def _cubic(key: Array, shots: int, queries: int) -> Task:
    k_coefficients, k_x = jax.random.split(key)
    c = jax.random.uniform(k_coefficients, (4,), minval=-1.0, maxval=1.0)
    x = jax.random.uniform(k_x, (shots + queries, 1), minval=-3.0, maxval=3.0)
    y = ((c[3] * x + c[2]) * x + c[1]) * x + c[0]
    return Task(x[:shots], y[:shots], x[shots:], y[shots:], c)


class LetterTasks(Module):
    """Classification tasks on a few capital letters, by the 16 features of UCI Letter,
    standardised [M-fig4].

    The letters of a task are drawn from 18 for meta-training or from the other 8, which
    meta-training never sees, and numbered in random order. These tasks replace the
    alphabets of Omniglot; an oracle gets no description.

    Attributes:
        letters: "train" or "test".
        ways: Number of classes in a task.
        shots: Number of examples of each class to learn from.
        queries: Number of examples of each class to be scored on.
        shear: The features of a task are multiplied by I + `shear`·G/4, where the
            Gaussian matrix G is drawn for each task; 0 leaves the features unchanged.
    """

    letters: str = eqx.field(static=True, default="train")
    ways: int = eqx.field(static=True, default=5)
    shots: int = eqx.field(static=True, default=1)
    queries: int = eqx.field(static=True, default=5)
    shear: float = 0.0

    def __post_init__(self) -> None:
        self.shots, self.queries = _counts(self.shots, self.queries)
        choice("letters", self.letters, ("train", "test"))
        most = len(_classes(self.letters))
        self.ways = integer(
            "ways",
            self.ways,
            f"a number of classes from 2 to {most}",
            least=2,
            most=most,
        )
        if not self.shots + self.queries <= _EXAMPLES:
            raise ValueError(
                f"shots: got {brief(self.shots)}; "
                f"it must be at most {_EXAMPLES}, queries included."
            )
        shear = real("shear", self.shear, "0 or a positive number")
        if not (shear is None or 0 <= shear < np.inf):
            raise ValueError(
                f"shear: got {brief(self.shear)}; it must be 0 or a positive number."
            )

    def __call__(self, key: Array) -> Task:
        """One task: random classes, random examples of each, a random shear."""
        random_key("key", key)
        return _letters(
            key, _classes(self.letters), self.shear, self.ways, self.shots, self.queries
        )


@partial(jax.jit, static_argnames=("ways", "shots", "queries"))
def _letters(
    key: Array, pool: Array, shear: Array, ways: int, shots: int, queries: int
) -> Task:
    """A task from the examples `pool` (classes, 733, 16)."""
    k_class, k_example, k_shear, k_order = jax.random.split(key, 4)
    classes = _shuffled(k_class, len(pool), ways)[:, None]
    n = shots + queries
    # 733 is prime, so start + stride·i modulo 733 runs through different examples
    # without a permutation of all of them.
    start, stride = jax.random.randint(k_example, (2, ways, 1), 1, _EXAMPLES)
    examples = (start + stride * jnp.arange(n)[None]) % _EXAMPLES
    # G/4 keeps squared lengths on average, because 16 = 4²
    mixing = jnp.eye(16) + shear / 4 * jax.random.normal(k_shear, (16, 16))
    x = pool[classes, examples] @ mixing.T  # (ways, n, 16)
    y = jnp.broadcast_to(jnp.eye(ways)[:, None], (ways, n, ways))
    # shuffled for learners that read the examples in order
    order = _shuffled(k_order, ways * shots, ways * shots)
    support = [part[:, :shots].reshape(-1, part.shape[-1])[order] for part in (x, y)]
    query = [part[:, shots:].reshape(-1, part.shape[-1]) for part in (x, y)]
    return Task(support[0], support[1], query[0], query[1], jnp.zeros(0))


def _shuffled(key: Array, n: int, k: int) -> Array:
    """The first k of 0, …, n − 1 in random order."""
    # compiles in a fraction of the time of the sort in `jax.random.permutation`
    return jax.lax.top_k(jax.random.uniform(key, (n,)), k)[1]


_EXAMPLES = 733  # examples of each letter; the rarest letter has 734
# drawn once by numpy.random.default_rng(0), so that nobody chose the letters
_TEST_LETTERS = "ABFHKMQZ"


@cache
def _classes(split: str) -> np.ndarray:
    """Standardised examples (classes, 733, 16), cut to the same number of examples a
    class.
    """
    features, labels = letters()
    train = ~np.isin(labels, list(_TEST_LETTERS))
    z = (features - features[train].mean(0)) / features[train].std(0)
    names = [
        name
        for name in np.unique(labels)
        if (name in _TEST_LETTERS) == (split == "test")
    ]
    return np.stack([z[labels == name][:_EXAMPLES] for name in names])
