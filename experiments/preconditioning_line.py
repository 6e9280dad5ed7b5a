"""The best linear code of Fashion-MNIST: the error that principal components leave on
the autoencoder's test pictures.

On the pictures that it was fitted to, no autoencoder with linear units and a code of
this width has a smaller error. An autoencoder with nonlinear units should have one. The
pictures and the error, summed over the pixels, are those of `preconditioning_fashion`.
"""

import numpy as np
from record import Experiment, main

import rankone as ro

GRID = {"width": [8, 16, 24, 32]}
OPTIONS = {"test": 2000}


def measure(*, width: int, test: int, seed: int) -> dict:
    """Mean squared error per picture of the projection on the leading components of all
    training pictures.
    """
    pictures = np.asarray(ro.data.fashion_mnist("train").images)
    held_out = np.asarray(ro.data.fashion_mnist("test").images)[:test]
    mean = pictures.mean(0, dtype=np.float64)
    second = pictures.T @ pictures / np.float64(len(pictures))
    components = np.linalg.eigh(second - np.outer(mean, mean))[1][:, -width:]
    away = held_out - mean
    return {
        "error": ((away - away @ components @ components.T) ** 2).sum(1).mean(),
        "total": (away**2).sum(1).mean(),
    }


EXPERIMENT = Experiment(
    "preconditioning_line", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
