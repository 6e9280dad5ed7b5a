"""The records of the experiments go into the wheel; a development install reads them
where they lie.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Records(BuildHookInterface):
    """Hook that adds `experiments/results` to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, unless the wheel is that of a development install."""
        if version == "standard":
            results = Path(self.root).parents[1] / "experiments" / "results"
            build_data["force_include"][str(results)] = "results"
