"""Interleaved timing, and what the hardware itself allows."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["Job", "Machine", "Work", "compare", "interleave", "line"]

Job = Callable[[], Any]
BURST = 0.02  # seconds


@dataclass(frozen=True)
class Work:
    """The least memory traffic and arithmetic of a formulation, whatever the code.

    Attributes:
        bytes: Bytes read from memory, each once.
        flops: Additions and multiplications in matrix products.
    """

    bytes: float
    flops: float


class Machine:
    """The best rates of the hardware, observed in every round of the run, because a
    limit is not an average.

    Attributes:
        bandwidth: Bytes per second of a sum over a large array.
        products: Operations per second of a large float32 matrix product.
    """

    def __init__(self, side: int = 2048):
        self.bandwidth = self.products = 0.0
        self._large = jnp.ones(8 * side**2, jnp.float32)
        self._square = jnp.ones((side, side), jnp.float32)
        self._sum = jax.jit(jnp.sum)
        self._product = jax.jit(jnp.matmul)

    @classmethod
    def of(cls, quick: bool) -> "Machine":
        """A machine with arrays that keep the whole device busy. A GPU needs larger
        ones.
        """
        side = 2048 if jax.default_backend() == "cpu" else 8192
        return cls(256 if quick else side)

    def jobs(self) -> dict[str, Job]:
        """A read and a product, to be timed in the same rounds as everything else."""
        return {
            "read": lambda: self._sum(self._large),
            "product": lambda: self._product(self._square, self._square),
        }

    def observe(self, seconds: dict[str, list[float]]) -> None:
        """Update the best rates."""
        self.bandwidth = max(self.bandwidth, self._large.nbytes / min(seconds["read"]))
        self.products = max(
            self.products, 2 * len(self._square) ** 3 / min(seconds["product"])
        )

    def limit(self, work: Work) -> float:
        """Seconds below which no formulation with this work can fall."""
        return max(work.bytes / self.bandwidth, work.flops / self.products)


def interleave(jobs: dict[str, Job], repetitions: int) -> dict[str, list[float]]:
    """Seconds of each repetition of each job. Every round runs all jobs, so that a
    disturbance affects all of them.

    A job shorter than `BURST` seconds is called as often as fits into that time, and
    the mean is recorded, as `timeit` does. One short call between two long ones would
    mostly time the waking of threads and the filling of caches.
    """
    calls = {}
    for name, job in jobs.items():
        _seconds(job, 1)  # compile, and touch all memory
        calls[name] = max(1, min(100, int(BURST / _seconds(job, 1))))
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repetitions):
        for name, job in jobs.items():
            seconds[name].append(_seconds(job, calls[name]))
    return seconds


def _seconds(job: Job, calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(job())
    return (time.perf_counter() - began) / calls


def compare(
    machine: Machine,
    case: dict[str, Any],
    ours: dict[str, tuple[Job, Work]],
    peers: dict[str, Job],
    repetitions: int,
) -> list[dict[str, Any]]:
    """Time our forms and their peers in one interleaved run; print and return a row for
    each pair.
    """
    mine = {f"ours, {form}": job for form, (job, _) in ours.items()}
    seconds = interleave(mine | peers | machine.jobs(), repetitions)
    machine.observe(seconds)
    rows = []
    for form, (_, work) in ours.items():
        for peer in peers:
            own = seconds[f"ours, {form}"]
            other = seconds[peer]
            rows.append(
                {
                    **case,
                    "form": form,
                    "peer": peer,
                    "bytes": work.bytes,
                    "flops": work.flops,
                }
            )
            rows[-1] |= {"ours_ms": _spread(own, 1e3), "peer_ms": _spread(other, 1e3)}
            rows[-1] |= {
                "ratio": _spread(np.array(other) / np.array(own)),
                "limit_ms": 1e3 * machine.limit(work),
            }
            print(line(rows[-1]), flush=True)
    return rows


def _spread(values: Any, scale: float = 1) -> dict[str, float]:
    return {
        name: float(scale * f(values))
        for name, f in (("min", np.min), ("median", np.median), ("max", np.max))
    }


def line(row: dict[str, Any]) -> str:
    """A row as one line of text."""
    r = row["ratio"]
    size = ", ".join(
        f"{name}={row[name]}" for name in ("K", "D", "Y", "N") if name in row
    )
    return (
        f"{row['task']:<14} {size:<24} {row['form']:<12} peer "
        f"{row['peer_ms']['median']:9.2f} ms ({row['peer']}), ours "
        f"{row['ours_ms']['median']:8.2f} ms, limit {row['limit_ms']:7.2f} ms, ratio "
        f"{r['median']:7.1f} ({r['min']:.1f} to {r['max']:.1f})"
    )
