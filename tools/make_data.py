"""Make the package's photographs and letters, from the originals in scikit-image,
scikit-learn and mlbench.

Run `python tools/make_data.py photographs`, or
`python tools/make_data.py letters LetterRecognition.rda` with the file from Debian's
r-cran-mlbench.
"""

import sys
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "src" / "rankone" / "data"

# name: (source, top, left, side), the last three as fractions of the height, width and
# shorter side.
CROPS = {
    "astronaut": ("astronaut", 0.0, 0.16, 0.56),
    "cat": ("chelsea", 0.0, 0.16, 1.0),
    "coffee": ("coffee", 0.05, 0.15, 0.9),
    "temple": ("china", 0.1, 0.2, 0.85),
    "flower": ("flower", 0.0, 0.2, 1.0),
    "retina": ("retina", 0.0, 0.0, 1.0),
    "motorcycle": ("motorcycle_left", 0.0, 0.12, 1.0),
    "rocket": ("rocket", 0.0, 0.26, 1.0),
    "tissue": ("immunohistochemistry", 0.0, 0.0, 1.0),
    "cameraman": ("camera", 0.05, 0.2, 0.6),
    "helmet": ("astronaut", 0.45, 0.62, 0.38),
    "flag": ("astronaut", 0.0, 0.0, 0.3),
    "galaxies": ("hubble_deep_field", 0.0, 0.0, 0.5),
    "petals": ("flower", 0.3, 0.35, 0.45),
    "roof": ("china", 0.42, 0.3, 0.32),
    "coins": ("coins", 0.0, 0.1, 0.5),
    "spoon": ("coffee", 0.6, 0.08, 0.4),
    "cat's eye": ("chelsea", 0.25, 0.32, 0.3),
    "bricks": ("brick", 0.0, 0.0, 0.5),
    "gravel": ("gravel", 0.0, 0.0, 0.3),
    "wheel": ("motorcycle_left", 0.5, 0.55, 0.5),
    "launch tower": ("rocket", 0.5, 0.5, 0.5),
    "spiral galaxy": ("hubble_deep_field", 0.72, 0.55, 0.25),
    "moon": ("moon", 0.3, 0.3, 0.45),
}


def original(name: str) -> np.ndarray:
    """One picture as float RGB in [0, 1], from whichever package has it."""
    from skimage import color, data
    from skimage.util import img_as_float
    from sklearn.datasets import load_sample_image

    if name in ("china", "flower"):
        return img_as_float(load_sample_image(f"{name}.jpg"))
    image = (
        data.stereo_motorcycle()[0]
        if name == "motorcycle_left"
        else getattr(data, name)()
    )
    image = img_as_float(image)
    return color.gray2rgb(image) if image.ndim == 2 else image[..., :3]


def crop(name: str, size: int = 64) -> np.ndarray:
    """The square named in CROPS, resized with antialiasing to uint8 (size, size, 3)."""
    from skimage.transform import resize

    source, top, left, side = CROPS[name]
    image = original(source)
    height, width, _ = image.shape
    n = int(side * min(height, width))
    y = min(int(top * height), height - n)
    x = min(int(left * width), width - n)
    return np.round(
        255 * resize(image[y : y + n, x : x + n], (size, size), anti_aliasing=True)
    ).astype(np.uint8)


def photographs() -> None:
    """Write every crop to photographs.npz."""
    pixels = np.stack([crop(name) for name in CROPS])
    np.savez_compressed(
        DATA / "photographs.npz", pixels=pixels, names=np.array(list(CROPS))
    )


def letters(path: str) -> None:
    """Write the UCI Letter table of an .rda file to letters.npz."""
    import rdata

    table = rdata.read_rda(path)["LetterRecognition"]
    np.savez_compressed(
        DATA / "letters.npz",
        features=table.iloc[:, 1:].to_numpy().astype(np.uint8),
        labels=table["lettr"].astype(str).to_numpy().astype("U1"),
        columns=np.array(table.columns[1:]).astype(str),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["photographs"]:
            photographs()
        case ["letters", path]:
            letters(path)
        case _:
            sys.exit(__doc__)
