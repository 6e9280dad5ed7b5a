"""Metadata that the build reads elsewhere: the addresses follow the repository that
`_config.yml` names.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Fills in `urls`; on GitHub's machines with the repository that is being built, as
    the book does.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses."""
        configuration = Path(self.root, "_config.yml").read_text(encoding="utf-8")
        (url,) = re.findall(r"^repository:\n  url: (\S+)$", configuration, re.MULTILINE)
        if name := os.environ.get("GITHUB_REPOSITORY"):
            url = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
        metadata["urls"] = {
            "Source": url,
            "Issues": f"{url}/issues",
            "Changelog": f"{url}/blob/main/CHANGELOG.md",
        }
