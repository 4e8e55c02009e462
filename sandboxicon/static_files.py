"""The static files as readers get them."""

import re
from pathlib import Path
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

BUNDLE = "css/site.css"
IMPORT = re.compile(r'^@import url\("([\w-]+\.css)"\);$', re.MULTILINE)


class BundledStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Hashed and compressed, and with what the style sheet imports in its place: one request, not one after another."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Any:
        if BUNDLE in paths and not dry_run:
            # From the sources: what stands in the folder of collected files is an earlier bundle.
            def source(name: str) -> str:
                storage, path = paths[name]
                return Path(storage.path(path)).read_text()

            bundle = IMPORT.sub(lambda found: source(f"css/{found[1]}"), source(BUNDLE))
            Path(self.path(BUNDLE)).write_text(bundle)
            paths = {**paths, BUNDLE: (self, BUNDLE)}
        yield from super().post_process(paths, dry_run, **options)
