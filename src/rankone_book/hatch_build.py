"""Build hook that puts the records that pages read into the wheel; a development
install reads them from the checkout.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Records(BuildHookInterface):
    """Hook that adds `experiments/results`, and the benchmarks that a chapter reads."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, unless the wheel is that of a development install."""
        if version == "standard":
            root = Path(self.root).parents[1]
            added = build_data["force_include"]
            added[str(root / "experiments" / "results")] = "results"
            for name in ("growth.json", "share.json"):
                path = root / "benchmarks" / "results" / name
                added[str(path)] = f"benchmarks/{name}"
