"""Documents as YAML files in one canonical form."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
WIDTH = 110


class BadFile(Exception):
    """A file that cannot be loaded: `problems` says, a line each, which file, where in it, and why."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class _Loader(yaml.CSafeLoader):
    """Refuses what no file here needs: a key that stands twice in one mapping, where YAML would keep the last one
    silently, and an alias, with which a short file can stand for an endless document."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if isinstance(node, yaml.CollectionNode) and (
            node in self.constructed_objects or node in self.recursive_objects
        ):
            raise yaml.constructor.ConstructorError(None, None, "an alias", node.start_mark)
        return super().construct_object(node, deep)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, "a key is not text", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.CSafeDumper):
    """Writes no alias, also where a document holds one object in two places."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(document: Document) -> bytes:
    """The document's one form as a file: UTF-8, keys in the document's order."""
    text = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=False
    )
    return text.encode()


def parse(content: bytes, path: str) -> Document:
    """The document in a file's bytes. Raises BadFile that names `path` where it is no mapping in YAML and UTF-8."""
    try:
        document = yaml.load(content.decode(), Loader=_Loader)  # noqa: S506
    except UnicodeDecodeError as error:
        raise BadFile([f"{path}: not UTF-8 (byte {error.start})"]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}:" if mark else ""
        raise BadFile([f"{path}:{place} not YAML: {getattr(error, 'problem', None) or error}"]) from None
    except (ValueError, RecursionError) as error:
        raise BadFile([f"{path}: not YAML: {error}"]) from None
    if not isinstance(document, dict):
        raise BadFile([f"{path}: not a mapping of fields"])
    return document


def digest(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def content_digest(document: Document) -> str:
    """The digest of what the document says, whatever the order of its keys."""
    return digest(json.dumps(document, sort_keys=True, default=str).encode())


def write(folder: Path, files: dict[str, bytes], subfolders: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """Make `folder` hold exactly these YAML files in the subfolders that they name, and in those given: paths written,
    paths removed.

    A file that already has these bytes is left alone, so its date says when it changed.
    """
    written, removed = [], []
    for path, content in files.items():
        target = folder / path
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            written.append(path)
    for subfolder in sorted({Path(path).parent for path in files} | {Path(name) for name in subfolders}):
        for target in sorted((folder / subfolder).glob("*.yaml")):
            path = target.relative_to(folder).as_posix()
            if path not in files:
                target.unlink()
                removed.append(path)
    return written, removed
