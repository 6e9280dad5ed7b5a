"""First lines that a chapter's notebook prints: the device and the versions on which it
runs, and the time and memory that the chapter took when the book was built.
"""

import platform
import sys

import jax

__all__ = ["report"]


def report(
    build: str,
    *,
    tested: tuple[str, str],
    seconds: float | None = None,
    megabytes: float | None = None,
) -> None:
    """Print the device and the versions, and let Colab show widgets.

    Args:
        build: Version and commit of the package, or a phrase in their place.
        tested: The oldest and the newest jax that the tests run on.
        seconds: Time that the chapter took in the last build of the book.
        megabytes: Peak memory of the chapter in that build.
    """
    if "google.colab" in sys.modules:
        from google.colab import output

        output.enable_custom_widget_manager()
    kinds = ", ".join(sorted({device.device_kind for device in jax.devices()}))
    print(
        f"{len(jax.devices())} × {kinds} · Python {platform.python_version()} · ",
        end="",
    )
    print(f"jax {jax.__version__} (tested: {' to '.join(tested)}) · rankone {build}")
    if seconds is not None:
        memory = f" and {megabytes / 1000:.1f} GB of memory" if megabytes else ""
        print(
            "In the last build of the book this chapter took "
            f"{max(1, round(seconds / 60))} min{memory}."
        )
