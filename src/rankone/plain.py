r"""The book's five results in plain JAX: dense associative memory, editing,
preconditioning, universality and residual memory. Read this file first.

Every function is the definition of its quantity, written for one example, and checks no
argument. The rest of the package computes the same quantities faster, for batches, and
with errors that explain a wrong argument. `tests/test_plain.py` checks that both agree.

Shapes: a state or a pattern has D entries, and K patterns `Xi` have shape (K, D). A
weight matrix `W` has shape (H, D) and maps a key k (D,) to a value v (H,).
"""

import jax
import jax.numpy as jnp

# 1. Dense associative memory. K patterns define an energy, and retrieval descends it.
#    The exact energy needs every pattern. The distributed energy needs one vector T,
#    whose length does not depend on K.


def energy(x, Xi, beta):
    """Energy E(x) = −(1/β) log Σ_μ exp(−β‖x − ξ^μ‖²/2) of a state [D-eq11]."""
    squared_distances = jnp.sum((x - Xi) ** 2, axis=1)
    return -jax.nn.logsumexp(-beta / 2 * squared_distances) / beta


def random_features(z, Omega):
    """Features φ(z) with E⟨φ(z), φ(z')⟩ = exp(−‖z − z'‖²/2) [D-eq8].

    The rows of Omega (Y, D) are drawn from the normal distribution N(0, I).
    """
    h = Omega @ z
    return jnp.concatenate([jnp.cos(h), jnp.sin(h)]) / jnp.sqrt(len(Omega))


def store(Xi, beta, Omega):
    """Memory vector T = Σ_μ φ(√β ξ^μ): 2Y numbers, whatever K is [D-eq9]."""
    return sum(random_features(jnp.sqrt(beta) * xi, Omega) for xi in Xi)


def distributed_energy(x, T, beta, Omega):
    """Energy Ê(x) = −(1/β) log ⟨φ(√β x), T⟩, an estimate of E(x) [D-eq9]."""
    return -jnp.log(random_features(jnp.sqrt(beta) * x, Omega) @ T) / beta


def retrieve(x, energy, step_size=0.1, steps=300):
    """State after `steps` steps of x ← x − η∇E(x)."""
    for _ in range(steps):
        x = x - step_size * jax.grad(energy)(x)
    return x


# 2. Editing. Many matrices map the key k to the value v. The edit chooses the matrix
#    that changes the answers to the old keys, the columns of K, least.


def rank_one_edit(W, K, k, v):
    """Edited weights Ŵ = W + Λuᵀ with u = C⁻¹k and C = KKᵀ [R-eq13, R-eq17]."""
    C = K @ K.T
    u = jnp.linalg.solve(C, k)
    Lambda = (v - W @ k) / (u @ k)
    return W + jnp.outer(Lambda, u)


# 3. Preconditioning. A plain gradient step on U in W = TUV moves W by a gradient step
#    that is preconditioned by the matrices TTᵀ and VᵀV.


def step_on_U(loss, T, U, V, rate):
    """Middle factor U − η ∂L/∂U, for a loss of the matrix W = TUV [K-eqU]."""
    gradient = jax.grad(lambda U: loss(T @ U @ V))(U)
    return U - rate * gradient


def step_on_W(loss, W, T, V, rate):
    """Weights W − η TTᵀ (∂L/∂W) VᵀV: the matrix that the step on U gives [K-eq2]."""
    gradient = jax.grad(loss)(W)
    return W - rate * T @ T.T @ gradient @ V.T @ V


# 4. Universality. This ReLU network has two hidden layers. One gradient step on a single
#    example (x, y) makes its output at x* approximately f(x, y, x*), for a function f
#    that was chosen in advance. The step writes y and x into two units, u₀ and u₁. Other
#    units, the readers, are inactive during the step, so that the step does not change
#    them. Afterwards they are active and read the two numbers.


def network(theta, x):
    """Output of the network at a number x, and its second hidden layer."""
    (W1, b1), (W2, b2), (w, b) = theta
    first = jax.nn.relu(W1 * x + b1)
    second = jax.nn.relu(W2 @ first + b2)
    return w @ second + b, second


def one_step(theta, x, y, alpha=0.1):
    """Parameters θ − α ∇½(f(x; θ) − y)²: one step on every parameter [M-def]."""
    gradient = jax.grad(lambda theta: 0.5 * (network(theta, x)[0] - y) ** 2)(theta)
    return jax.tree.map(lambda p, g: p - alpha * g, theta, gradient)


def blank_learner(key, J, readers, w, delta, start, alpha):
    """Parameters whose last `readers` hidden units, the readers, have output weight 0
    until they are fitted; and random tasks (x, y, x*).
    """
    # The first layer has a unit for x, and two units u₀ and u₁ that are δ for every x.
    W1 = jnp.array([1.0, 0.0, 0.0])
    b1 = jnp.array([0.0, delta, delta])

    # In the second layer, one unit passes u₀ on, and J − 1 counters are active where x
    # is above their threshold j/J. In the backward pass, active counters pass the error
    # on to u₁. Each has the weight 1/√J from u₁ and w/√J to the output, so u₁ receives
    # about x times the error that u₀ receives.
    thresholds = jnp.arange(1, J) / J
    weight = J**-0.5
    path = jnp.array([[0.0, 1.0, 0.0]])
    counters = jnp.tile(jnp.array([delta, 0.0, weight]), (J - 1, 1))

    # The step adds αw v₀ to u₀ and αw v₁ to u₁, where v₀ = (y − start)(1 + xx*) and v₁
    # ≈ x v₀. A reader is active on one side of a plane a·(v₀, v₁, x*) + c = 0 through a
    # random task. The state before the step, v = 0, lies on the other side.
    low = jnp.array([0.0, -1.0, 0.0])
    high = jnp.array([1.0, 1.0, 1.0])
    tasks = jax.random.uniform(key, (12 * readers, 3), minval=low, maxval=high)
    x, y, x_star = tasks.T
    v0 = (y - start) * (1 + x * x_star)
    points = jnp.stack([v0, x * v0, x_star], axis=1)
    directions = jax.random.normal(jax.random.fold_in(key, 1), points.shape)
    a = directions / points.std(axis=0)
    c = -jnp.sum(a * points, axis=1)
    sign = jnp.where(c + a[:, 2] / 2 > 0, -1, 1)[:, None]
    a = sign * a
    c = -jnp.sum(a * points, axis=1)
    inactive = jnp.flatnonzero(c + jnp.maximum(a[:, 2], 0) < 0, size=readers)
    a = a[inactive]
    c = c[inactive]

    # In the units of the first layer, v is (u − δ)/(αw).
    scaled = a[:, :2] / (alpha * w)
    reading = jnp.concatenate([a[:, 2:], scaled], axis=1)
    reading_bias = c - delta * scaled.sum(axis=1)

    W2 = jnp.concatenate([path, counters, reading])
    b2 = jnp.concatenate([jnp.zeros(1), -delta * (thresholds + weight), reading_bias])
    output = w * jnp.concatenate(
        [jnp.ones(1), jnp.full(J - 1, weight), jnp.zeros(readers)]
    )
    return ((W1, b1), (W2, b2), (output, jnp.asarray(start))), tasks


def learner(f, key, J=64, readers=400, w=1e-2, delta=1e-4, start=-5.0, alpha=0.1):
    """Parameters with network(one_step(θ, x, y), x*) ≈ f(x, y, x*) [M-S8].

    The approximation is for x and x* in [0, 1] and y in [−1, 1]. The readers' output
    weights are the least-squares solution over random tasks, each after its own step.
    """
    theta, tasks = blank_learner(key, J, readers, w, delta, start, alpha)

    def after_step(x, y, x_star):
        answer, second = network(one_step(theta, x, y, alpha), x_star)
        return f(x, y, x_star) - answer, second[J:]

    residual, reader_units = jax.vmap(after_step)(*tasks.T)
    fitted = jnp.linalg.lstsq(reader_units, residual)[0]
    first_layer, second_layer, (output, bias) = theta
    return first_layer, second_layer, (output.at[J:].set(fitted), bias)


# 5. Residual memory. The base model is not changed. The residuals of the nearest
#    training examples, which are its errors there, are added to its answer.


def resmem(z, probs, Z, residuals, k, sigma):
    """Scores probs + Σ w̄ᵢ rᵢ over the k nearest zᵢ [S-eq2, S-eq3].

    The weights w̄ sum to 1 and are proportional to exp(−‖z − zᵢ‖/σ).
    """
    distances = jnp.linalg.norm(Z - z, axis=1)
    nearest = jnp.argsort(distances)[:k]
    weights = jax.nn.softmax(-distances[nearest] / sigma)
    return probs + weights @ residuals[nearest]
