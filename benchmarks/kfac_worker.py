"""One step of kfac-jax for each line of input. The script is run by an interpreter of
its own, with a JAX that kfac-jax supports.

python benchmarks/kfac_worker.py SIZE BATCH EVERY
"""

import sys

import jax
import jax.numpy as jnp
import kfac_jax


def main(size: int, batch: int, every: int) -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    x, y = (jax.random.normal(k, (batch, size), jnp.float32) for k in keys[:2])

    def loss(params, data):
        outputs = data[0] @ params["w"]
        kfac_jax.register_squared_error_loss(outputs, data[1], weight=0.5)
        return 0.5 * ((outputs - data[1]) ** 2).sum(-1).mean()

    optimizer = kfac_jax.Optimizer(
        jax.value_and_grad(loss),
        l2_reg=0.0,
        damping_schedule=lambda _: 1e-2,
        num_burnin_steps=0,
        inverse_update_period=every,
        learning_rate_schedule=lambda _: 1e-2,
        momentum_schedule=lambda _: 0.0,
    )
    params = {"w": jax.random.normal(keys[2], (size, size), jnp.float32) / size**0.5}
    state = optimizer.init(params, keys[0], (x, y))
    for count, _ in enumerate(sys.stdin):
        params, state, _ = optimizer.step(
            params, state, keys[1], batch=(x, y), global_step_int=count
        )
        jax.block_until_ready(params)
        print(count, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
