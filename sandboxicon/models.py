"""What the site remembers about its own content."""

from django.db import models


class LoadedDocument(models.Model):
    """What a file of `fixtures/` held when it was last loaded, so that a curator's work is told from an old load.

    `path` is relative to the fixtures folder, as in primitives/firecracker.yaml. The digests are SHA-256 in hex:
    of the file's bytes, and of its content in canonical form.
    """

    path = models.CharField(max_length=200, unique=True)
    file_digest = models.CharField(max_length=64)
    content_digest = models.CharField(max_length=64)
    loaded_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.path
