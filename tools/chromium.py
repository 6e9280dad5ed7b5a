"""Finds a Chromium for the browser tests, and installs Debian's if it may:
`python tools/chromium.py`.
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

# chromium-headless-shell draws the same pages in two thirds of the CPU time.
DEBIAN = ("chromium-headless-shell", "chromium")
NAMES = (
    *DEBIAN,
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "msedge",
)
APPLICATIONS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
)
ADVICE = """The browser tests need Chromium or Chrome, and none was found.
  Debian:        apt-get install chromium-headless-shell   (as root)
  Ubuntu:        snap install chromium
  macOS:         brew install --cask chromium
  elsewhere:     install Chrome, or set CHROMIUM to the program's path"""


def find() -> str | None:
    """Path of a Chromium or Chrome: $CHROMIUM, else one on the path, else an installed
    application.
    """
    on_path = (
        shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), *NAMES) if name
    )
    installed = (str(path) for path in APPLICATIONS if path.exists())
    return next((path for path in on_path if path), None) or next(installed, None)


def install() -> None:
    """Install Debian's Chromium, the headless package if there is one, on a system with
    apt and as root.
    """
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return
    print("Installing Chromium for the browser tests")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = partial(
        subprocess.run, check=False, env=environment, stdout=subprocess.DEVNULL
    )
    apt(["apt-get", "update", "-q"])
    for name in DEBIAN:
        if (
            apt(
                ["apt-get", "install", "-q", "-y", "--no-install-recommends", name]
            ).returncode
            == 0
        ):
            return


def main() -> None:
    """Install a browser if there is none. If that fails, exit with an error that says
    what to do.
    """
    if not find():
        install()
    if not find():
        sys.exit(ADVICE)


if __name__ == "__main__":
    main()
