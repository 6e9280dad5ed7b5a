"""Calls of the public functions, each with the arrays that a user might trace or close
over.

A use has the names that it covers, the call, and the arguments of the call. An argument
is an array, a number, or a pytree of arrays such as a memory. Shapes are few and small,
so that programs are shared.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from draws import normal
from one_number import KERNELS

import rankone as ro
from rankone import editing, maml, nn, residual, universality, writes
from rankone import preconditioning as pre
from rankone.theory import (
    basin,
    conditioning,
    divergence,
    edit_cost,
    kernel_error,
    noise_floor,
    one_rule,
    resmem_rates,
    soft_neighbours,
    thresholds,
)
from rankone.writes import rules

__all__ = ["EXEMPT", "FAMILIES", "Use"]


class Use(NamedTuple):
    """One call.

    Attributes:
        names: The public names that it covers, as `tools/bad_inputs.py` writes them.
        call: Takes the arguments by name.
        arguments: The arguments. Each is traced in turn, while the others are closed
            over.
        refused: The arguments that may not be traced: the function computes on the
            host.
        whole: The arguments without a derivative.
        outside: True if vmap and grad are also compared outside of jit, where they
            compile programs of their own.
    """

    names: frozenset[str]
    call: Callable[..., Any]
    arguments: dict[str, Any]
    refused: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    outside: bool = False

    def __repr__(self) -> str:
        return " ".join(sorted(self.names))


def use(
    names: str,
    call: Callable[..., Any],
    *,
    refused: str = "",
    whole: str = "",
    outside: bool = False,
    **arguments: Any,
) -> Use:
    """A use, with names separated by spaces."""
    arguments = {name: _single(value) for name, value in arguments.items()}
    sets = [frozenset(words.split()) for words in (names, refused, whole)]
    return Use(sets[0], call, arguments, sets[1], sets[2], outside)


def _single(value: Any) -> Any:
    """Numbers as numpy arrays in JAX's default precision; anything else as it is."""
    if isinstance(value, int | float):
        value = np.asarray(value)
    narrow = {"float64": np.float32, "int64": np.int32}
    return (
        value.astype(narrow.get(value.dtype.name, value.dtype))
        if isinstance(value, np.ndarray)
        else value
    )


def _positive(seed: int, n: int) -> np.ndarray:
    """A well-conditioned positive definite matrix."""
    root = normal(seed, n, n) / 4
    return root @ root.T + np.eye(n)


def _jax(value: Any) -> jax.Array:
    return jnp.asarray(_single(value))


D = 3
H = 2
m = 2
W = normal(0, H, D)
C = _positive(1, D)
K = normal(2, D, m)
V = normal(3, H, m)
MANY = np.concatenate([np.eye(D), normal(4, D, 2)], axis=1)  # keys that span the space
k = K[:, 0]
v = V[:, 0]
A = _positive(5, H)
B = _positive(6, D)
STATES = normal(7, 2, D) / 4
PATTERNS = normal(8, 4, D) / 4
BETA = 2.0
TWO = np.array([0.3, 0.4])
KEY = jax.random.key(0)


def _editing() -> Iterator[Use]:
    edits = {"W": W, "C": C, "k": k, "v": v}
    geometry = ro.KeyGeometry.from_moments(_jax(C))
    from_keys = ro.KeyGeometry.from_keys(_jax(MANY))
    edit = ro.rank_one_edit(_jax(W), geometry, _jax(k), _jax(v))
    yield use(
        "rank_one_edit",
        lambda W, C, k, v: ro.rank_one_edit(W, C, k, v),
        outside=True,
        **edits,
    )
    yield use(
        "rank_one_edit",
        lambda W, C, k, v: ro.rank_one_edit(W, C, k, v, refine=1).delta,
        W=W,
        C=geometry,
        k=k,
        v=v,
    )
    yield use(
        "rank_one_edit",
        lambda ridge, W: ro.rank_one_edit(W, C, k, v, ridge=ridge),
        ridge=0.1,
        W=W,
    )
    pairs = {"W": W, "C": C, "K": K, "V": V}
    yield use(
        "batch_edit",
        lambda omega, **rest: ro.batch_edit(**rest, omega=omega),
        outside=True,
        omega=10.0,
        **pairs,
    )
    yield use(
        "interpolate_residuals",
        lambda q, **rest: editing.interpolate_residuals(**rest, q=q),
        q=normal(9, D),
        **pairs,
    )
    yield use(
        "sequential_edit",
        lambda beta, omega, **rest: editing.sequential_edit(
            **rest, beta=beta, omega=omega
        ),
        **{"beta": 1.0, "omega": 10.0} | pairs,
    )
    yield use(
        "cyclic_edit",
        lambda **arguments: editing.cyclic_edit(**arguments, cycles=2),
        **pairs,
    )
    for function in (editing.pseudo_inverse_edit, editing.ridge_limit_edit):
        yield use(function.__name__, function, W=W, K=K, k=k, v=v)
    yield use(
        "projected_edit",
        editing.projected_edit,
        **{"W": W, "directions": np.eye(D)[:, :2], "K": K, "V": V, "written": MANY},
    )
    yield use(
        "quiet_directions",
        lambda C: editing.quiet_directions(C, threshold=1e3),
        refused="C",
        C=C,
    )
    yield use(
        "KeyGeometry.from_moments",
        lambda C, ridge: ro.KeyGeometry.from_moments(C, ridge=ridge).solve(k),
        outside=True,
        **{"C": C, "ridge": 0.1},
    )
    yield use(
        "KeyGeometry.from_keys",
        lambda K, ridge: ro.KeyGeometry.from_keys(K, ridge=ridge).solve(k),
        **{"K": MANY, "ridge": 0.1},
    )
    yield use(
        "KeyGeometry.observe",
        lambda geometry, keys, weight: geometry.observe(keys, weight=weight).solve(k),
        **{"geometry": from_keys, "keys": K, "weight": 2.0},
    )
    yield use(
        "KeyGeometry.whiten KeyGeometry.dual KeyGeometry.solve KeyGeometry.features "
        "KeyGeometry.inner",
        lambda geometry, a, b: (
            geometry.whiten(a),
            geometry.dual(a),
            geometry.solve(a, refine=1),
            geometry.features(jnp.asarray(a)),
            geometry.inner(a, b),
            geometry.outcome,
        ),
        **{"geometry": geometry, "a": K, "b": K},
    )
    moments = editing.SecondMoments.empty(D).update(_jax(MANY.T))
    yield use(
        "SecondMoments.update",
        lambda moments, keys, where: moments.update(keys, where=where).mean,
        **{"moments": moments, "keys": MANY.T, "where": np.array([True] * 4 + [False])},
    )
    yield use(
        "SecondMoments.update",
        lambda keys, q: moments.update(keys).mean * moments.mean * q[None],
        keys=MANY.T,
        q=k,
    )
    yield use(
        "capture_keys",
        lambda W, x: editing.capture_keys(
            lambda tree, x: x @ tree["W"].T,
            {"W": jnp.asarray(W)},
            "W",
            x,
            layout="out_in",
        ),
        **{"W": W, "x": jnp.asarray(STATES, jnp.float32)},
    )
    yield use(
        "edit_at weight_at",
        lambda W, edit: (
            editing.edit_at({"W": W}, "W", edit, layout="out_in"),
            editing.weight_at({"W": W}, "W", layout="out_in"),
        ),
        **{"W": W, "edit": edit},
    )
    yield use(
        "Write()", lambda left, right: writes.Write(left, right).delta, left=v, right=k
    )
    yield use(
        "Write.apply Write.undo Write.at",
        lambda edit, W, q: ((edit + edit).apply(W), edit.undo(W), edit.at(q)),
        **{"edit": edit, "W": W, "q": K},
    )
    yield use(
        "Edited() Edited.then Edited.undo",
        lambda base, edit: (
            writes.Edited(base).then(edit).W,
            writes.Edited(base).then(edit).undo().W,
        ),
        **{"base": W, "edit": edit},
    )


def _writes() -> Iterator[Use]:
    S = _positive(10, m)
    R = normal(11, H, m)
    a = _jax(K)
    b = _jax(MANY)
    for name, kernel in KERNELS.items():
        yield use(
            f"{name}() {name}.inner",
            lambda number, a, b, kernel=kernel: kernel(number).inner(a, b),
            number=BETA,
            a=a,
            b=b,
        )
    yield use(
        "NearestNeighbours() NearestNeighbours.inner",
        lambda sigma, a, b: writes.NearestNeighbours(2, sigma).inner(a, b),
        **{"sigma": BETA, "a": a, "b": b},
    )
    for name, make in (
        ("Linear", lambda G: writes.Linear()),
        ("Metric", writes.Metric),
    ):
        constructor = f"{name}()" if name == "Metric" else ""
        yield use(
            f"{constructor} {name}.inner {name}.features {name}.dual",
            lambda G, a, b, make=make: (
                make(G).inner(a, b),
                make(G).features(a),
                make(G).dual(a),
            ),
            **{"G": C, "a": a, "b": b},
        )
    chosen = {
        "BatchStep() BatchStep.coefficients": writes.BatchStep,
        "Exact.coefficients": lambda number: writes.Exact(),
        "InSequence() InSequence.coefficients": writes.InSequence,
        "Cycled() Cycled.coefficients": lambda number: rules.Cycled(2, number),
        "Ridge() Ridge.coefficients": writes.Ridge,
        "Recursive() Recursive.coefficients": lambda number: writes.Recursive(
            number, number
        ),
    }
    for names, make in chosen.items():
        yield use(
            names,
            lambda number, R, S, make=make: make(number).coefficients(
                jnp.asarray(R), jnp.asarray(S)
            ),
            **{"number": 0.5, "R": R, "S": S},
        )
    kernel = writes.Gaussian(_jax(BETA))
    yield use(
        "KernelMemory.store KernelMemory.read",
        lambda K, R, q: writes.KernelMemory.store(K, R, kernel).read(q),
        **{"K": K, "R": R, "q": k},
    )
    yield use(
        "KernelMemory.read",
        lambda memory, q: memory.read(q),
        **{"memory": writes.KernelMemory.store(_jax(K), _jax(R), kernel), "q": k},
    )
    yield use(
        "interpolate",
        lambda K, R, q, omega: writes.interpolate(
            K, R, q, kernel, rule=writes.Ridge(omega), normalise=True
        ),
        **{"K": K, "R": R, "q": k, "omega": 5.0},
    )


def _memory() -> Iterator[Use]:
    features = ro.RandomFeatures(D, 8, key=KEY)
    memory = ro.MrDAM(_jax(PATTERNS), BETA)
    copy = ro.DrDAM.store(_jax(PATTERNS), BETA, features)
    yield use(
        "MrDAM()",
        lambda Xi, beta, x: ro.MrDAM(Xi, beta).energy_and_gradient(x),
        outside=True,
        **{"Xi": PATTERNS, "beta": BETA, "x": STATES},
    )
    yield use(
        "MrDAM.energy_and_gradient MrDAM.certified MrDAM.reader",
        lambda memory, x: (
            memory.energy(x),
            memory.gradient(x),
            memory.energy_and_gradient(x),
            memory.certified(x),
            memory.reader()(jnp.asarray(x)),
            memory.origin,
            memory.empty,
        ),
        **{"memory": memory, "x": STATES},
    )
    yield use(
        "DrDAM.store",
        lambda Xi, beta, centre, x: ro.DrDAM.store(
            Xi, beta, features, centre=centre
        ).energy_and_gradient(x),
        outside=True,
        **{"Xi": PATTERNS, "beta": BETA, "centre": PATTERNS[0], "x": STATES},
    )
    yield use(
        "DrDAM()",
        lambda T, beta, count, power, x: ro.DrDAM(
            T, beta, features, count, power
        ).energy(x),
        **{
            "T": np.asarray(copy.T),
            "beta": BETA,
            "count": 4.0,
            "power": 4.0,
            "x": STATES,
        },
    )
    yield use(
        "DrDAM.add DrDAM.remove",
        lambda memory, xi: (memory.add(xi), memory.remove(xi)),
        **{"memory": copy, "xi": PATTERNS[0]},
    )
    yield use(
        "DrDAM.energy_and_gradient DrDAM.read DrDAM.reader DrDAM.certified "
        "DrDAM.partition DrDAM.floored",
        lambda memory, x: (
            memory.energy(x),
            memory.gradient(x),
            memory.read(x),
            memory.reader()(jnp.asarray(x)),
            memory.certified(x),
            memory.partition(x),
            memory.floored(x),
            memory.write.delta,
        ),
        **{"memory": copy, "x": STATES},
    )
    yield use(
        "RandomFeatures()",
        lambda key, z: ro.RandomFeatures(D, 8, key=key, basis="cos").phi(z),
        **{"key": KEY, "z": STATES},
    )
    yield use(
        "RandomFeatures.phi RandomFeatures.inner RandomFeatures.project",
        lambda z, features: (
            features.phi(z),
            features.inner(z.T, z.T),
            features.project(z),
        ),
        **{
            "z": STATES,
            "features": ro.RandomFeatures(
                D, 8, key=KEY, basis="expexp", projection="hadamard"
            ),
        },
    )
    yield use(
        "RandomFeatures.features RandomFeatures.dual RandomFeatures.read "
        "RandomFeatures.encode",
        lambda features, z, T, weights: (
            features.features(z.T),
            features.dual(z.T),
            features.read(jnp.asarray(z), jnp.asarray(T)),
            features.encode(jnp.asarray(z), jnp.asarray(weights)),
        ),
        **{
            "features": features,
            "z": STATES,
            "T": normal(12, features.M),
            "weights": np.ones(2),
        },
    )
    for one in (memory, copy):
        yield use(
            "retrieve",
            lambda memory, x0, step_size, tol, clamp: ro.retrieve(
                memory,
                x0,
                step_size=step_size,
                tol=tol,
                clamp=clamp,
                max_steps=3,
                progress=False,
            ),
            whole="step_size tol clamp",
            outside=one is memory,
            **{
                "memory": one,
                "x0": STATES,
                "step_size": 0.5,
                "tol": 1e-3,
                "clamp": np.array([True, False, False]),
            },
        )


def _nn() -> Iterator[Use]:
    dense = nn.Dense(_jax(W), _jax(v))
    yield use(
        "Dense() Dense.__call__ Dense.features",
        lambda W, b, x: (nn.Dense(W, b)(x), nn.Dense(W, b).features(x)),
        **{"W": W, "b": v, "x": STATES},
    )
    yield use(
        "Dense.__call__ relu_network append_one",
        lambda layer, x: (
            layer(x),
            nn.relu_network([layer], jnp.asarray(x)),
            nn.append_one(x),
        ),
        layer=dense,
        x=STATES,
    )
    yield use(
        "Dense.from_augmented", lambda matrix: nn.Dense.from_augmented(matrix), matrix=W
    )
    yield use("initial_layers", lambda key: nn.initial_layers(key, [3, 2]), key=KEY)
    yield use(
        "gradient_step",
        lambda params, rate, x: nn.gradient_step(
            lambda p: ((p @ x) ** 2).sum(), jnp.asarray(params), rate
        ),
        **{"params": W, "rate": 0.1, "x": k},
    )


def _preconditioning() -> Iterator[Use]:
    T = normal(13, H, H)
    U = normal(14, H, D)
    V = np.eye(D) + normal(15, D, D) / 4
    P = ro.kronecker_preconditioner(_jax(A), _jax(V))
    layer = ro.Reparameterized(_jax(A), _jax(U), _jax(V))
    moments = pre.Moments(_jax(B), _jax(A))
    factors = pre.Factors(_jax(A), _jax(V))
    yield use(
        "kronecker_preconditioner",
        lambda T, V, G: ro.kronecker_preconditioner(T, V).apply(G),
        outside=True,
        **{"T": T, "V": V, "G": W},
    )
    yield use(
        "KroneckerPreconditioner.apply KroneckerPreconditioner.to_dense "
        "KroneckerPreconditioner.squared_norm "
        "KroneckerPreconditioner.inverse KroneckerPreconditioner.eigenvalues",
        lambda P, G: (
            P.apply(G),
            P @ jnp.asarray(G).ravel(),
            P.to_dense(),
            P.squared_norm(G),
            P.inverse().apply(G),
            P.eigenvalues(),
        ),
        **{"P": P, "G": W},
    )
    yield use(
        "KroneckerPreconditioner.write",
        lambda P, delta, x, rate: P.write(delta, x, rate),
        **{"P": P, "delta": v, "x": k, "rate": 0.1},
    )
    yield use("Factors()", lambda T, V: tuple(pre.Factors(T, V)), T=T, V=V)
    yield use("vec unvec", lambda X: (pre.vec(X), pre.unvec(pre.vec(X), (H, D))), X=W)
    yield use(
        "Reparameterized()",
        lambda T, U, V, W0, x: ro.Reparameterized(T, U, V, W0)(x),
        outside=True,
        **{"T": A, "U": U, "V": V, "W0": W, "x": STATES},
    )
    yield use(
        "Reparameterized.__call__ Reparameterized.features merge trainable",
        lambda layer, x: (
            layer(x),
            layer.features(x),
            layer.W,
            layer.preconditioner.apply(W.astype("f")),
            pre.merge([layer]),
            jax.tree.map(jnp.asarray, pre.trainable([layer])),
        ),
        **{"layer": layer, "x": STATES},
    )
    yield use(
        "Reparameterized.from_weight",
        lambda W, T, V: ro.Reparameterized.from_weight(W, T, V).W,
        **{"W": W, "T": A, "V": V},
    )
    yield use(
        "between",
        lambda W, T, V: pre.between(jnp.asarray(W), jnp.asarray(T), jnp.asarray(V)),
        W=W,
        T=A,
        V=V,
    )
    yield use(
        "reparameterize",
        lambda network, factors: pre.reparameterize(network, factors, invertible=True),
        **{"network": [nn.Dense(_jax(W))], "factors": [factors]},
    )
    yield use(
        "layer_moments skipped",
        lambda W, x: (
            blocks := pre.layer_moments(
                lambda W: ((jnp.asarray(x) @ W.T) ** 2).sum(-1), jnp.asarray(W)
            ),
            list(map(len, pre.skipped(blocks))),
        )[0],
        **{"W": W, "x": STATES},
    )
    yield use(
        "whitening.Moments()",
        lambda inputs, outputs: tuple(pre.Moments(inputs, outputs)),
        inputs=B,
        outputs=A,
    )
    moving = pre.MovingMoments.start((H, D), decay=0.5)
    yield use(
        "MovingMoments.update",
        lambda moving, moments: moving.update(moments).value,
        **{"moving": moving, "moments": moments},
    )
    yield use(
        "whitening_factors damped",
        lambda moments, damping, power: (
            pre.whitening_factors(moments, damping=damping, power=power),
            pre.damped(moments, damping),
        ),
        **{"moments": moments, "damping": 0.1, "power": -0.5},
    )
    yield use("matrix_power", pre.matrix_power, A=B, power=-0.5)
    yield use(
        "whiten",
        lambda network, moments: pre.whiten(network, moments, damping=0.1),
        network=[nn.Dense(_jax(W))],
        moments=[moments],
    )
    yield use(
        "transport",
        pre.transport,
        momentum=normal(16, H, D),
        old=factors,
        new=pre.Factors(_jax(T), _jax(V)),
    )
    yield use(
        "adapt_U",
        lambda layer, learning_rate: pre.adapt_U(
            layer, _squared, learning_rate=learning_rate
        ),
        **{"layer": layer, "learning_rate": 0.1},
    )
    yield use(
        "meta_learn",
        lambda layer, key, inner_rate: pre.meta_learn(
            layer,
            _task_loss,
            _task_loss,
            _task,
            key=key,
            inner_rate=inner_rate,
            outer_steps=1,
            tasks=1,
            outer=_SGD,
        ),
        **{"layer": layer, "key": KEY, "inner_rate": 0.1},
    )
    for name, transform in (
        ("precondition", pre.precondition),
        ("kronecker_sgd", lambda factors: pre.kronecker_sgd(0.1, factors)),
    ):
        yield use(
            name,
            lambda factors, gradient, transform=transform: _update(
                transform({"W": factors}), {"W": gradient}
            ),
            **{"factors": factors, "gradient": W},
        )
    yield use(
        "estimated_kronecker only_U prong",
        lambda layer, x: (
            _update(pre.only_U(optax.sgd(0.1)), layer),
            pre.prong(lambda layer, x: (layer(x) ** 2).sum(-1), learning_rate=0.1).init(
                layer, x
            ),
        )[0],
        **{"layer": layer, "x": STATES},
    )


_SGD = optax.sgd(0.1)


def _squared(layer: Any) -> jax.Array:
    return (layer.W**2).sum()


def _task(key: jax.Array) -> jax.Array:
    return jax.random.normal(key, (D,))


def _task_loss(layer: Any, task: jax.Array) -> jax.Array:
    return ((layer.W @ task) ** 2).sum()


def _update(transform: Any, gradients: Any) -> Any:
    return transform.update(gradients, transform.init(gradients), gradients)[0]


def _residual() -> Iterator[Use]:
    probs = np.array([[0.5, 0.25, 0.25]] * 4)
    labels = np.array([0, 1, 2, 1])
    base = np.array([[0.5, 0.25, 0.25]] * 2)
    fitted = ro.ResMem(k=2).fit(_jax(PATTERNS), _jax(probs), _jax(labels))
    neighbours = fitted.neighbours(_jax(STATES))
    yield use(
        "ResMem() ResMem.fit",
        lambda sigma, temperature, embeddings, logits, labels, x: (
            ro.ResMem(2, sigma, temperature)
            .fit(embeddings, labels=labels, logits=logits)
            .predict(x, logits=logits[:2])
        ),
        **{
            "sigma": 0.5,
            "temperature": 2.0,
            "embeddings": PATTERNS,
            "logits": probs,
            "labels": labels,
            "x": STATES,
        },
    )
    yield use(
        "ResMem.fit_residuals",
        lambda embeddings, residuals: (
            ro.ResMem(2, keep=2).fit_residuals(embeddings, residuals).correction(STATES)
        ),
        **{"embeddings": PATTERNS, "residuals": normal(17, 4, 3)},
    )
    yield use(
        "ResMem.predict ResMem.correction ResMem.neighbours",
        lambda memory, embeddings, probs: (
            memory.predict(embeddings, probs),
            memory.correction(embeddings),
            memory.neighbours(embeddings),
        ),
        outside=True,
        **{"memory": fitted, "embeddings": STATES, "probs": base},
    )
    yield use(
        "ResMem.read",
        lambda memory, found: memory.read(found),
        memory=fitted,
        found=neighbours,
    )
    yield use(
        "ResMem.using",
        lambda sigma: fitted.using(k=1, sigma=sigma).correction(STATES),
        sigma=0.5,
    )
    yield use(
        "ResMem.kernel_memory",
        lambda memory: memory.kernel_memory().read(k),
        memory=fitted,
    )
    yield use(
        "ExactSearch() ExactSearch.search",
        lambda rows, stored, queries: residual.ExactSearch(rows, stored).search(
            queries, 2
        ),
        **{"rows": PATTERNS, "stored": 3, "queries": STATES},
    )
    yield use(
        "ShardedSearch() ShardedSearch.search",
        lambda rows, queries: residual.ShardedSearch(
            rows, devices=jax.devices()[:1]
        ).search(queries, 2),
        **{"rows": PATTERNS, "queries": STATES},
    )


def _universality() -> Iterator[Use]:
    network = ro.universal_learner(_product, cells=2)
    step = universality.rank_one.rank_one_step(network, 0.3, 0.5)
    shots = {"x": 0.3, "y": 0.5, "alpha": network.alpha}
    yield use(
        "adapt predict",
        lambda network, x_star, **shots: ro.predict(ro.adapt(network, **shots), x_star),
        outside=True,
        **{"network": network, "x_star": 0.7} | shots,
    )
    yield use(
        "rank_one_step RankOneStep.output RankOneStep.last_hidden "
        "RankOneStep.gradient RankOneStep.apply "
        "RankOneStep.writes",
        lambda x, y, alpha, x_star: (
            (step := universality.rank_one.rank_one_step(network, x, y, alpha)),
            step.output(x_star),
            step.last_hidden(x_star),
        )[1:],
        **{"x_star": 0.7} | shots,
    )
    yield use(
        "RankOneStep.gradient RankOneStep.apply RankOneStep.writes",
        lambda step: (
            step.gradient().switch,
            step.apply().switch,
            [write.left for write in step.writes()],
        ),
        **{"step": step},
    )
    yield use(
        "learn",
        lambda x, y, x_star, alpha: universality.rank_one.learn(
            network, x, y, x_star, alpha=alpha
        ),
        **{"x": TWO, "y": TWO, "x_star": TWO, "alpha": network.alpha},
    )
    yield use(
        "Network.input Network.output activations",
        lambda network, x: (
            network.input(x),
            network.output(x),
            universality.network.activations(network, x),
        ),
        **{"network": network, "x": TWO},
    )
    yield use(
        "Network()",
        lambda switch: universality.Network(
            switch, network.layers, network.alpha
        ).output(0.3),
        **{"switch": np.asarray(network.switch)},
    )


def _product(x: Any, y: Any, x_star: Any) -> Any:
    return y * x_star


def _maml() -> Iterator[Use]:
    model = maml.MLP(1, (2,))
    learner = maml.GradientLearner(model, steps=2)
    recurrent = maml.RecurrentLearner(1, width=2, head=2)
    tasks = maml.SineTasks(shots=2, queries=2)
    task = tasks(KEY)
    params = model.init(KEY)
    state = recurrent.init(KEY)
    oracle = maml.OracleLearner(maml.MLP(3, (2,)))
    batch = maml.draw_tasks(tasks, 2, key=KEY)
    yield use(
        "MLP() MLP.init MLP.__call__ GradientLearner.init OracleLearner.init "
        "RecurrentLearner.init",
        lambda key, x: (
            model(model.init(key), jnp.asarray(x)),
            learner.init(key),
            recurrent.init(key),
        ),
        **{"key": KEY, "x": STATES[:, :1]},
    )
    yield use(
        "GradientLearner.predict GradientLearner.adapt GradientLearner.step Task()",
        lambda params, task: (
            learner.predict(params, task),
            learner.step(params, task),
        ),
        **{"params": params, "task": task},
    )
    yield use(
        "GradientLearner()",
        lambda step_size: maml.GradientLearner(model, step_size=step_size).predict(
            params, task
        ),
        **{"step_size": 0.1},
    )
    yield use(
        "OracleLearner.predict", oracle.predict, params=oracle.init(KEY), task=task
    )
    yield use(
        "RecurrentLearner() RecurrentLearner.predict RecurrentLearner.read",
        lambda params, task: (
            recurrent.predict(params, task),
            recurrent.read(params, task),
        ),
        **{"params": state, "task": task},
    )
    yield use(
        "squared_error cross_entropy accuracy",
        lambda one, other: (
            maml.squared_error(one, other),
            maml.cross_entropy(one, other),
            maml.accuracy(one, other),
        ),
        **{"one": STATES, "other": STATES[::-1].copy()},
    )
    yield use(
        "SineTasks() SineTasks.__call__ PolynomialTasks() PolynomialTasks.__call__ "
        "draw_tasks",
        lambda key: (
            tasks(key),
            maml.PolynomialTasks(2, 2)(key),
            maml.draw_tasks(tasks, 2, key=key),
        ),
        **{"key": KEY},
    )
    yield use(
        "LetterTasks() LetterTasks.__call__",
        lambda key, shear: maml.LetterTasks(ways=2, queries=1, shear=shear)(key).y,
        **{"key": KEY, "shear": 0.5},
    )
    yield use(
        "evaluate after_steps",
        lambda params, tasks: (
            maml.evaluate(learner, params, tasks, maml.squared_error),
            maml.after_steps(learner, params, tasks, maml.squared_error, steps=1),
        ),
        **{"params": params, "tasks": batch},
    )


def _theory() -> Iterator[Use]:
    """Formulas of `theory` that compute on the host, in part or wholly, and a few that
    do not.
    """
    H = _positive(20, D)
    P = _positive(21, D)
    S = np.array([[1.0, 0.25], [0.25, 1.0]])
    yield use(
        "roughness_allowed",
        lambda radius: basin.roughness_allowed(radius, step_size=0.1, steps=5),
        refused="radius",
        radius=TWO,
    )
    yield use(
        "critical_slope", basin.critical_slope, refused="step_size", step_size=0.1
    )
    yield use(
        "softmax_lipschitz",
        lambda spread: divergence.softmax_lipschitz(spread=spread, K=4),
        refused="spread",
        spread=0.5,
    )
    yield use(
        "energy_drift", divergence.energy_drift, step_size=0.5, error=TWO, gradient=TWO
    )
    yield use("batch_inflation", edit_cost.batch_inflation, refused="S", S=S)
    yield use(
        "sequence_mixture", edit_cost.sequence_mixture, refused="S beta", S=S, beta=0.5
    )
    yield use("forgetting", edit_cost.forgetting, S=S, residual=0.5, beta=0.5)
    yield use(
        "noise_floor",
        noise_floor.noise_floor,
        H=H,
        N=H,
        P=P,
        learning_rate=0.1,
        momentum=0.5,
    )
    yield use(
        "stationary_covariance",
        conditioning.stationary_covariance,
        H=H,
        C=H,
        P=P,
        learning_rate=0.1,
        momentum=0.5,
    )
    yield use("overlap", one_rule.overlap, refused="S", S=S)
    yield use(
        "base_law",
        lambda n: resmem_rates.base_law(n, 3, 0.5),
        refused="n",
        n=np.array([10.0, 100.0]),
    )
    yield use(
        "soft_reading",
        soft_neighbours.soft_reading,
        refused="K R q sigma",
        K=K,
        R=V,
        q=K,
        sigma=0.5,
    )
    yield use("bit_error", thresholds.bit_error, D=64.0, K=4.0, Y=200.0, beta=2.0)
    yield use(
        "uniform_kernel_error",
        lambda radius, delta: kernel_error.uniform_kernel_error(
            D=3, Y=1000, radius=radius, delta=delta
        ),
        refused="radius delta",
        **{"radius": 1.0, "delta": 0.05},
    )


def _claims() -> Iterator[Use]:
    """The two functions of `theory` that are public names of the package."""
    yield use(
        "nearest_neighbour_risk",
        lambda n: ro.nearest_neighbour_risk(n, d=2),
        refused="n",
        n=np.array([10.0, 100.0]),
    )
    numbers = {
        "beta": 2.0,
        "step_size": 0.5,
        "diameter": 0.8,
        "reach": 0.8,
        "delta": 0.05,
        "energy": 0.3,
    }
    yield use(
        "divergence_bound",
        lambda **numbers: (
            ro.divergence_bound(D=10, K=5, Y=400_000, steps=10, **numbers).bound
        ),
        refused=" ".join([*numbers, "eps0", "eps1"]),
        **numbers | {"eps0": 1e-4, "eps1": 1e-4},
    )


FAMILIES = {
    "editing": _editing,
    "writes": _writes,
    "memory": _memory,
    "nn": _nn,
    "preconditioning": _preconditioning,
    "residual": _residual,
    "universality": _universality,
    "maml": _maml,
    "theory": _theory,
    "claims": _claims,
}
_SETTINGS = "its numbers are settings, of which a network is built on the host"
_NO_ARRAY = "it takes no array"
_A_MESH = "it takes a mesh, and no array"
EXEMPT = {
    "DrDAM.sharded": _A_MESH,
    "ExactSearch.sharded": _A_MESH,
    "MrDAM.sharded": _A_MESH,
    "RandomFeatures.sharded": _A_MESH,
    "ResMem.sharded": _A_MESH,
    "SecondMoments.sharded": _A_MESH,
    "Constants()": _SETTINGS,
    "Constants.over": _SETTINGS,
    "Constants.scaled": _SETTINGS,
    "Constants.width": _SETTINGS,
    "FaissSearch()": "faiss searches on the host",
    "FaissSearch.search": "faiss searches on the host",
    "MovingMoments.start": _NO_ARRAY,
    "SecondMoments.empty": _NO_ARRAY,
    "Write.save": "it writes a file",
    "gradient_into": "it uses up an argument",
    "load_write": "it reads a file",
    "lookup_table": "it takes a function",
    "meta_train": "it is a training run, with a progress bar and files",
    "universal_learner": _SETTINGS,
    "width_for": _NO_ARRAY,
}
