"""A file that is not right is refused with its name and the field, and nothing of the load stays."""

import datetime
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audits.models import Agent, AgentAudit, AgentBreak, Posture
from evidence.models import Claim, Source
from ladder.models import Tier
from nesting.models import Cell, Environment, ErrorText, Inner
from primitives.models import Break, BuildsOn, Category, Platform, Primitive
from sandboxicon.content.files import BadFile
from sandboxicon.content.loading import load
from sandboxicon.models import LoadedDocument
from tests.content import small

pytestmark = pytest.mark.django_db

MODELS = [Tier, Category, Platform, Primitive, Claim, Source, Break, BuildsOn, LoadedDocument]
MODELS += [Agent, AgentAudit, Posture, AgentBreak, Environment, Inner, Cell, ErrorText]
RUNC = "primitives/runc.yaml"
DOCKER = "primitives/docker.yaml"
CODEX = "agents/codex.yaml"
ERROR = "errors/runc-no.yaml"
NESTED = "nesting/runc.yaml"


def nothing_is_loaded() -> bool:
    return not any(model._default_manager.exists() for model in MODELS)


def runc(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[RUNC].update(fields)


def first_claim(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[RUNC]["claims"][0].update(fields)


def first_source(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[RUNC]["claims"][0]["sources"][0].update(fields)


def first_break(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[RUNC]["breaks"][0].update(fields)


def without(*place: Any) -> Callable[[small.Documents], None]:
    def take_away(content: small.Documents) -> None:
        holder: Any = content
        for step in place[:-1]:
            holder = holder[step]
        del holder[place[-1]]

    return take_away


def change(path: str, **fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[path].update(fields)


def error(**fields: Any) -> Callable[[small.Documents], None]:
    return change(ERROR, **fields)


def cell(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[NESTED]["cells"][0].update(fields)


def codex(**fields: Any) -> Callable[[small.Documents], None]:
    return change(CODEX, **fields)


def surface(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[CODEX]["audits"][0].update(fields)


def default(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[CODEX]["audits"][0]["postures"][0].update(fields)


def full_access(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[CODEX]["audits"][0]["postures"][1].update(fields)


def level(**fields: Any) -> Callable[[small.Documents], None]:
    return lambda content: content[CODEX]["audits"][0]["postures"][0]["levels"].update(fields)


# What is spoilt, and what the message must begin with and hold.
WRONG: list[Any] = [
    pytest.param(error(pattern="runc: ("), f"{ERROR}: pattern: Not a regular expression that RE2", id="bad pattern"),
    pytest.param(error(pattern=".*"), f"{ERROR}: pattern: The pattern finds an empty line", id="pattern of nothing"),
    pytest.param(error(example="yes"), f"{ERROR}: pattern: The pattern does not find its own", id="wrong example"),
    pytest.param(error(claims=[]), f"{ERROR}: An error text needs a published claim", id="error without a claim"),
    pytest.param(error(fixes=[{"do": "It."}]), f"{ERROR}: fixes[1].cost: missing", id="fix without a cost"),
    pytest.param(error(fixes=small.FIXES[::-1]), f"{ERROR}: A fix that is a last resort", id="last resort first"),
    pytest.param(cell(outer="moon"), f"{NESTED}: cells[1].outer: no such entry: moon", id="unknown environment"),
    pytest.param(cell(result="perhaps"), f"{NESTED}: cells[1].result: ", id="unknown result"),
    pytest.param(cell(error_lines="no"), f"{NESTED}: cells[1].error_lines: not a list", id="error lines as text"),
    pytest.param(runc(colour="red"), f"{RUNC}: colour: unknown field", id="unknown field"),
    pytest.param(without(RUNC, "summary"), f"{RUNC}: summary: missing", id="missing field"),
    pytest.param(without(RUNC, "claims"), f"{RUNC}: claims: missing", id="no claims"),
    pytest.param(without(RUNC, "claims", 0, "as_of"), f"{RUNC}: claims[1].as_of: missing", id="claim without date"),
    pytest.param(without(RUNC, "claims", 0, "sources"), f"{RUNC}: claims[1].sources: missing", id="claim, no sources"),
    pytest.param(first_claim(certainty=1), f"{RUNC}: claims[1].certainty: unknown field", id="claim, unknown field"),
    pytest.param(first_claim(version=1.10), f"{RUNC}: claims[1].version: not text", id="version as a number"),
    pytest.param(
        first_claim(version=datetime.date(2026, 8, 21)), f"{RUNC}: claims[1].version: not text", id="as a date"
    ),
    pytest.param(first_claim(sentence=True), f"{RUNC}: claims[1].sentence: not text", id="sentence as a truth"),
    pytest.param(first_claim(sentence=None), f"{RUNC}: claims[1].sentence: ", id="no sentence"),
    pytest.param(first_claim(sentence="  "), f"{RUNC}: A claim needs a sentence", id="blank sentence"),
    pytest.param(first_claim(label="rumour"), f"{RUNC}: claims[1].label: ", id="bad label"),
    pytest.param(first_claim(label=None), f"{RUNC}: claims[1].label: ", id="no label"),
    pytest.param(first_claim(label=["documented"]), f"{RUNC}: claims[1].label: not text", id="label as a list"),
    pytest.param(first_claim(aspect="colour"), f"{RUNC}: claims[1].aspect: ", id="bad aspect"),
    pytest.param(first_claim(as_of="2026-08-21"), f"{RUNC}: claims[1].as_of: not a date", id="date as text"),
    pytest.param(first_claim(as_of="soon"), f"{RUNC}: claims[1].as_of: not a date", id="bad date"),
    pytest.param(
        first_claim(as_of=datetime.datetime(2026, 8, 21, 1)), f"{RUNC}: claims[1].as_of: not a date", id="time"
    ),
    pytest.param(first_claim(as_of=2026), f"{RUNC}: claims[1].as_of: not a date", id="year for a date"),
    pytest.param(first_claim(slug="Own Namespaces"), f"{RUNC}: claims[1].slug: ", id="bad claim slug"),
    pytest.param(first_claim(slug="a" * 61), f"{RUNC}: claims[1].slug: ", id="claim slug of 61 letters"),
    pytest.param(first_claim(slug="no-policy"), f"{RUNC}: claims: the slug no-policy stands twice", id="slug twice"),
    pytest.param(first_claim(sources=[small.DOC]), f"{RUNC}: Claim own-namespaces: verified-code needs", id="no code"),
    pytest.param(first_claim(sources=[]), f"{RUNC}: Claim own-namespaces: verified-code needs", id="no source"),
    pytest.param(first_claim(sources=None), f"{RUNC}: claims[1].sources: not a list", id="sources null"),
    pytest.param(first_claim(sources={"a": 1}), f"{RUNC}: claims[1].sources: not a list", id="sources a mapping"),
    pytest.param(first_claim(sources=["x"]), f"{RUNC}: claims[1].sources[1].kind: ", id="source as text"),
    pytest.param(first_claim(label="inferred"), f"{RUNC}: Claim own-namespaces: inferred needs", id="no reasoning"),
    pytest.param(first_claim(label="undisclosed"), f"{RUNC}: Claim own-namespaces: undisclosed needs", id="not looked"),
    pytest.param(
        first_claim(says_how_to_check=True), f"{RUNC}: Only a claim about an agent's surface", id="a check of no agent"
    ),
    pytest.param(first_claim(says_how_to_check="yes"), f"{RUNC}: claims[1].says_how_to_check: not", id="check as text"),
    pytest.param(first_claim(says_how_to_check=None), f"{RUNC}: claims[1].says_how_to_check: ", id="check null"),
    pytest.param(first_claim(sentence="a\0b"), f"{RUNC}: claims[1].sentence: ", id="NUL in a sentence"),
    pytest.param(first_source(kind="rumour"), f"{RUNC}: claims[1].sources[1].kind: not one of", id="bad kind"),
    pytest.param(first_source(kind=["code"]), f"{RUNC}: claims[1].sources[1].kind: not one of", id="kind as a list"),
    pytest.param(first_source(commit="abc"), f"{RUNC}: claims[1].sources[1].commit: ", id="short commit"),
    pytest.param(first_source(commit=10**39), f"{RUNC}: claims[1].sources[1].commit: not text", id="number as commit"),
    pytest.param(first_source(lines=12), f"{RUNC}: claims[1].sources[1].lines: not text", id="lines as a number"),
    pytest.param(
        first_source(url="https://a.b/"), f"{RUNC}: claims[1].sources[1].url: unknown field", id="code with URL"
    ),
    pytest.param(
        first_claim(sources=[{**small.DOC, "url": "http://a.b/"}]), f"{RUNC}: claims[1].sources[1].url: ", id="http"
    ),
    pytest.param(first_claim(sources=[{**small.DOC, "title": None}]), f"{RUNC}: ", id="document without a title"),
    pytest.param(first_break(url="http://nvd.nist.gov/"), f"{RUNC}: breaks[1].url: ", id="break over http"),
    pytest.param(first_break(url=None), f"{RUNC}: breaks[1].url: ", id="break without a URL"),
    pytest.param(first_break(year="2019"), f"{RUNC}: breaks[1].year: not a whole number", id="year as text"),
    pytest.param(first_break(year=20190), f"{RUNC}: breaks[1].year: ", id="year of five digits"),
    pytest.param(first_break(year=None), f"{RUNC}: breaks[1].year: ", id="no year"),
    pytest.param(first_break(cvss=9.8), f"{RUNC}: breaks[1].cvss: unknown field", id="break, unknown field"),
    pytest.param(runc(breaks=["CVE-2019-5736"]), f"{RUNC}: breaks[1]: not a mapping", id="break as text"),
    pytest.param(runc(claims={"a": 1}), f"{RUNC}: claims: not a list", id="claims a mapping"),
    pytest.param(runc(claims=[None]), f"{RUNC}: claims[1]: not a mapping", id="empty claim"),
    pytest.param(runc(slug="crun"), f"{RUNC}: slug: not the file's name", id="slug other than the file's name"),
    pytest.param(runc(slug=None), f"{RUNC}: slug: not the file's name", id="no slug"),
    pytest.param(runc(slug=["runc"]), f"{RUNC}: slug: not the file's name", id="slug as a list"),
    pytest.param(runc(name=None), f"{RUNC}: name: ", id="no name"),
    pytest.param(
        runc(name="Docker"),
        f"{RUNC}: The database refuses this: Key (name)=(Docker) already exists",
        id="another's name",
    ),
    pytest.param(runc(name="a" * 101), f"{RUNC}: name: ", id="name of 101 letters"),
    pytest.param(runc(tier="cellar"), f"{RUNC}: tier: no such entry: cellar", id="unknown tier"),
    pytest.param(runc(tier=None), f"{RUNC}: tier: no such entry", id="no tier"),
    pytest.param(runc(tier=["container"]), f"{RUNC}: tier: no such entry", id="tier as a list"),
    pytest.param(runc(category={"a": "b"}), f"{RUNC}: category: no such entry", id="category as a mapping"),
    pytest.param(runc(category="toys"), f"{RUNC}: category: no such entry: toys", id="unknown category"),
    pytest.param(
        runc(platforms=["linux", "beos"]), f"{RUNC}: platforms[2]: no such entry: beos", id="unknown platform"
    ),
    pytest.param(runc(platforms="linux"), f"{RUNC}: platforms: not a list", id="platforms as text"),
    pytest.param(runc(platforms=["linux", "linux"]), f"{RUNC}: platforms: the entry linux stands twice", id="twice"),
    pytest.param(runc(builds_on=["nothing"]), f"{RUNC}: builds_on[1]: no such entry: nothing", id="unknown part"),
    pytest.param(runc(builds_on=[["docker"]]), f"{RUNC}: builds_on[1]: no such entry", id="part as a list"),
    pytest.param(runc(builds_on=["docker"]), f"{RUNC}: What builds on what goes in a circle", id="circle of two files"),
    pytest.param(runc(builds_on=["runc"]), f"{RUNC}: A primitive cannot build on itself", id="part of itself"),
    pytest.param(runc(status="alive"), f"{RUNC}: status: ", id="bad status"),
    pytest.param(runc(status=None), f"{RUNC}: status: ", id="no status"),
    pytest.param(runc(isolates=["feelings"]), f"{RUNC}: isolates: ", id="isolates what there is not"),
    pytest.param(runc(isolates=[1]), f"{RUNC}: isolates: a list of something else", id="isolates a number"),
    pytest.param(runc(aliases=None), f"{RUNC}: aliases: not a list", id="aliases null"),
    pytest.param(runc(aliases=["a", 1.10]), f"{RUNC}: aliases: a list of something else", id="alias as a number"),
    pytest.param(runc(aliases=["a\0b"]), f"{RUNC}: aliases: ", id="NUL in an alias"),
    pytest.param(runc(first_release="2015"), f"{RUNC}: first_release: not a whole number", id="release as text"),
    pytest.param(runc(first_release=True), f"{RUNC}: first_release: not a whole number", id="release as a truth"),
    pytest.param(runc(first_release=15), f"{RUNC}: first_release: ", id="release in the year 15"),
    pytest.param(runc(homepage="http://runc.io/"), f"{RUNC}: homepage: ", id="homepage over http"),
    pytest.param(runc(docs="javascript:alert(1)"), f"{RUNC}: docs: ", id="docs as a script"),
    pytest.param(change("tiers/container.yaml", kernel="own"), "tiers/container.yaml: Ranks 1 to 4", id="wrong kernel"),
    pytest.param(change("tiers/container.yaml", rank=7), "tiers/container.yaml: rank: ", id="seventh rung"),
    pytest.param(
        change("tiers/container.yaml", claims=[{}]), "tiers/container.yaml: claims[1].slug: missing", id="tier"
    ),
    pytest.param(change("platforms/linux.yaml", position="1"), "platforms/linux.yaml: position: not a", id="position"),
    pytest.param(change("platforms/linux.yaml", position=-1), "platforms/linux.yaml: position: ", id="position below"),
    pytest.param(
        change("categories/container-runtime.yaml", x=1), "categories/container-runtime.yaml: x:", id="category"
    ),
]
SURFACE = f"{CODEX}: audits[1]"
DEFAULT = f"{SURFACE}.postures[1]"
WRONG_AGENTS: list[Any] = [
    pytest.param(codex(colour="red"), f"{CODEX}: colour: unknown field", id="unknown field"),
    pytest.param(without(CODEX, "vendor"), f"{CODEX}: vendor: missing", id="missing vendor"),
    pytest.param(codex(vendor=None), f"{CODEX}: vendor: ", id="no vendor"),
    pytest.param(codex(open_source=True), f"{CODEX}: open_source: not text", id="open source as a truth"),
    pytest.param(codex(open_source="perhaps"), f"{CODEX}: open_source: ", id="open source unheard of"),
    pytest.param(codex(repo="http://github.com/"), f"{CODEX}: repo: ", id="repo over http"),
    pytest.param(codex(audits=None), f"{CODEX}: audits: not a list", id="audits null"),
    pytest.param(codex(audits=["cli"]), f"{CODEX}: audits[1]: not a mapping", id="audit as text"),
    pytest.param(without(CODEX, "breaks"), f"{CODEX}: breaks: missing", id="no breaks"),
    pytest.param(codex(breaks=[{}]), f"{CODEX}: breaks[1].identifier: missing", id="empty break"),
    pytest.param(surface(slug="ide"), f"{CODEX}: audits: the slug ide stands twice", id="slug of a surface twice"),
    pytest.param(surface(slug="Command Line"), f"{SURFACE}.slug: ", id="bad slug"),
    pytest.param(surface(kind="watch"), f"{SURFACE}.kind: ", id="unknown kind"),
    pytest.param(surface(is_published="yes"), f"{SURFACE}.is_published: not true or false", id="published as text"),
    pytest.param(surface(is_published=1), f"{SURFACE}.is_published: not true or false", id="published as a number"),
    pytest.param(surface(is_published=None), f"{SURFACE}.is_published: ", id="published null"),
    pytest.param(surface(position=3), f"{SURFACE}.position: unknown field", id="position"),
    pytest.param(surface(postures=None), f"{SURFACE}.postures: not a list", id="postures null"),
    pytest.param(surface(postures=["x"]), f"{DEFAULT}: not a mapping", id="posture as text"),
    pytest.param(surface(claims=None), f"{SURFACE}.claims: not a list", id="claims null"),
    pytest.param(surface(claims=[{}]), f"{SURFACE}.claims[1].slug: missing", id="empty claim"),
    pytest.param(surface(postures=[]), f"{CODEX}: Codex CLI has no default posture", id="published without posture"),
    pytest.param(without(CODEX, "audits", 0, "postures", 0, "mode"), f"{DEFAULT}.mode: missing", id="no mode"),
    pytest.param(default(mode="a" * 41), f"{DEFAULT}.mode: ", id="mode of 41 letters"),
    pytest.param(default(risk="high"), f"{DEFAULT}.risk: unknown field", id="posture, unknown field"),
    pytest.param(default(is_default="true"), f"{DEFAULT}.is_default: not true or false", id="default as text"),
    pytest.param(default(is_default=False), f"{CODEX}: Codex CLI has no default posture", id="published, no default"),
    pytest.param(full_access(is_default=True), f"{CODEX}: Codex CLI has more than one default", id="two defaults"),
    pytest.param(default(isolation="maybe"), f"{DEFAULT}.isolation: ", id="unknown isolation"),
    pytest.param(default(isolation="none"), f"{DEFAULT}.tier: a posture has a tier if", id="none with a tier"),
    pytest.param(default(isolation="undisclosed"), f"{DEFAULT}.tier: a posture has", id="undisclosed with a tier"),
    pytest.param(default(tier=None), f"{DEFAULT}.tier: a posture has a tier if", id="isolated without tier"),
    pytest.param(default(tier="cellar"), f"{DEFAULT}.tier: no such entry: cellar", id="unknown tier"),
    pytest.param(default(tier=["container"]), f"{DEFAULT}.tier: no such entry", id="tier as a list"),
    pytest.param(default(platforms=["beos"]), f"{DEFAULT}.platforms[1]: no such entry: beos", id="platform"),
    pytest.param(default(platforms="linux"), f"{DEFAULT}.platforms: not a list", id="platforms as text"),
    pytest.param(default(platforms=["linux"] * 2), f"{DEFAULT}.platforms: the entry linux stands", id="platform twice"),
    pytest.param(default(platforms=[]), f"{CODEX}: Posture boxed of Codex CLI names no platform", id="no platform"),
    pytest.param(default(primitives=["pledge"]), f"{DEFAULT}.primitives[1]: no such entry: pledge", id="primitive"),
    pytest.param(default(rests_on=["hearsay"]), f"{DEFAULT}.rests_on[1]: no such entry: hearsay", id="claim missing"),
    pytest.param(default(rests_on=["not-said"]), f"{DEFAULT}.rests_on[1]: no such", id="claim of another surface"),
    pytest.param(default(rests_on=["own-namespaces"]), f"{DEFAULT}.rests_on[1]: no such", id="claim of a primitive"),
    pytest.param(default(rests_on=["on-by-default"] * 2), f"{DEFAULT}.rests_on: the entry", id="claim twice"),
    pytest.param(default(rests_on=[]), f"{CODEX}: Posture boxed of Codex CLI names no claim", id="rests on nothing"),
    pytest.param(default(on_failure="explodes"), f"{DEFAULT}.on_failure: ", id="unknown on failure"),
    pytest.param(default(on_failure=None), f"{DEFAULT}.on_failure: ", id="on failure null"),
    pytest.param(default(network=False), f"{DEFAULT}.network: not text", id="off read as a truth"),
    pytest.param(default(note="a\0b"), f"{DEFAULT}.note: holds a NUL", id="NUL in a note"),
    pytest.param(default(levels=None), f"{DEFAULT}.levels: not a mapping", id="levels null"),
    pytest.param(default(levels={}), f"{DEFAULT}.levels.read: missing", id="no levels"),
    pytest.param(level(read="some"), f"{DEFAULT}.levels.read: ", id="unknown level"),
    pytest.param(level(write="open"), f"{DEFAULT}.levels.write: ", id="level of another value"),
    pytest.param(level(network=False), f"{DEFAULT}.levels.network: not text", id="level off as a truth"),
    pytest.param(level(network=None), f"{DEFAULT}.levels.network: ", id="level null"),
    pytest.param(level(smell="bad"), f"{DEFAULT}.levels.smell: unknown field", id="a level too many"),
]
BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b", ".join([b"*%c" % (letter - 1)] * 9))
    for letter in range(ord("b"), ord("n"))
)
NOT_A_DOCUMENT: list[Any] = [
    pytest.param(b"slug: [runc\n", "line 2: not YAML", id="not YAML"),
    pytest.param(b"slug: runc\nname: a\nname: b\n", "line 3: not YAML: name stands twice", id="key twice"),
    pytest.param(b"claims:\n- slug: a\n  slug: b\n", "line 3: not YAML: slug stands twice", id="key twice inside"),
    pytest.param(b"- slug: runc\n", "not a mapping", id="a list at the top"),
    pytest.param(b"runc\n", "not a mapping", id="a word"),
    pytest.param(b"", "not a mapping", id="empty"),
    pytest.param(b"# nothing\n", "not a mapping", id="a comment alone"),
    pytest.param(b"slug: runc\n---\nslug: runc\n", "not YAML", id="two documents"),
    pytest.param(b"slug: \xff\xfe\n", "not UTF-8", id="not UTF-8"),
    pytest.param("slug: runc\n".encode("utf-16"), "not UTF-8", id="UTF-16"),
    pytest.param(b"slug: ru\0nc\n", "not YAML", id="NUL byte"),
    pytest.param(b"slug: !!python/object/apply:os.getcwd []\n", "not YAML", id="code"),
    pytest.param(b"slug: 2026-02-30\n", "not YAML", id="a day that there is not"),
    pytest.param(b"1: runc\n", "not YAML: a key is not text", id="a number as a key"),
    pytest.param(b"? [a, b]\n: runc\n", "not YAML", id="a list as a key"),
    pytest.param(b"? !!binary aGVsbG8=\n: x\n", "not YAML: a key is not text", id="bytes as a key"),
    pytest.param(b"<<: {slug: runc}\nname: a\n", "not YAML", id="merged mapping"),
    pytest.param(b"slug: &s runc\nname: a\naliases: &a []\nisolates: *a\n", "not YAML", id="one list in two places"),
    pytest.param(b"slug: runc\na: &a\n- *a\n", "not YAML", id="a list in itself"),
    pytest.param(b"slug: runc\nfirst_release: " + b"9" * 5000, "not YAML", id="a number of 5,000 digits"),
    pytest.param(b'slug: "\\uD800"\n', "not YAML", id="half a character"),
    pytest.param(BOMB, "not YAML", id="nine to the power of twelve words"),
    pytest.param(b"slug: " + b"[" * 100_000, "not YAML", id="nested deeply and open"),
    pytest.param(b"slug: " + b"[" * 50_000 + b"]" * 50_000, "not YAML", id="nested deeply"),
    pytest.param(b"slug: runc\nclaims: " + b"{a: " * 900 + b"1" + b"}" * 900, "", id="nested a little less deeply"),
]


@pytest.mark.parametrize(("spoil", "message"), [*WRONG, *WRONG_AGENTS])
def test_a_wrong_field_is_named_and_nothing_is_loaded(
    spoil: Callable[[small.Documents], None], message: str, tmp_path: Path
) -> None:
    content = small.documents()
    spoil(content)
    with pytest.raises(BadFile) as caught:
        load(small.write(tmp_path, content))
    assert any(problem.startswith(message) for problem in caught.value.problems), caught.value.problems
    path = message.split(":")[0]
    assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems)
    assert all("\n" not in problem and len(problem) < 400 for problem in caught.value.problems)
    assert nothing_is_loaded()


@pytest.mark.parametrize(("data", "message"), NOT_A_DOCUMENT)
def test_a_file_that_is_no_document_is_named_and_nothing_is_loaded(data: bytes, message: str, tmp_path: Path) -> None:
    small.write(tmp_path, small.documents())
    (tmp_path / RUNC).write_bytes(data)
    start = time.monotonic()
    with pytest.raises(BadFile) as caught:
        load(tmp_path)
    assert time.monotonic() - start < 10, "it took forever, or nearly so"
    assert all(problem.startswith(f"{RUNC}: ") and message in problem for problem in caught.value.problems)
    assert nothing_is_loaded()


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "there-is-no-such"):
        with pytest.raises(BadFile, match="no content files"):
            load(folder)
    (tmp_path / "primitives").mkdir()
    (tmp_path / "primitives" / "README.md").write_text("no entry")
    with pytest.raises(BadFile, match="no content files"):
        load(tmp_path)


def test_all_bad_files_are_named_at_once(tmp_path: Path) -> None:
    content = small.documents()
    content[RUNC]["status"] = "alive"
    content[DOCKER]["claims"][0]["label"] = "rumour"
    content["platforms/linux.yaml"]["name"] = None
    with pytest.raises(BadFile) as caught:
        load(small.write(tmp_path, content))
    assert {problem.split(":")[0] for problem in caught.value.problems} == {RUNC, DOCKER, "platforms/linux.yaml"}


def test_a_bad_file_among_good_ones_leaves_what_was_loaded_before_as_it_was(tmp_path: Path) -> None:
    content = small.documents()
    load(small.write(tmp_path, content))
    content[DOCKER]["summary"] = "A better one."
    content[RUNC]["claims"][0]["sources"] = []
    with pytest.raises(BadFile):
        load(small.write(tmp_path, content))
    assert Primitive.objects.get(slug="docker").summary == "What docker is."
    assert Source.objects.filter(claim__slug="own-namespaces").count() == 1
    content[RUNC]["claims"][0]["sources"] = [small.CODE]
    assert load(small.write(tmp_path, content)).updated == [DOCKER]


def test_all_that_an_audit_lacks_is_named_a_line_each(tmp_path: Path) -> None:
    content = small.documents()
    for posture in content[CODEX]["audits"][0]["postures"]:
        posture |= {"is_default": False, "rests_on": []}
    with pytest.raises(BadFile) as caught:
        load(small.write(tmp_path, content))
    assert caught.value.problems == [
        f"{CODEX}: Codex CLI has no default posture, so it cannot be published.",
        f"{CODEX}: Posture boxed of Codex CLI names no claim that it rests on, so it cannot be published.",
        f"{CODEX}: Posture full access of Codex CLI names no claim that it rests on, so it cannot be published.",
    ]
    assert nothing_is_loaded()


def test_an_unpublished_audit_may_lack_what_a_published_one_needs(tmp_path: Path) -> None:
    content = small.documents()
    content[CODEX]["audits"][0]["is_published"] = False
    for posture in content[CODEX]["audits"][0]["postures"]:
        posture |= {"is_default": False, "rests_on": [], "platforms": []}
    load(small.write(tmp_path, content))
    assert Posture.objects.filter(audit__is_published=False).count() == 2


def test_the_command_says_it_without_a_traceback(tmp_path: Path) -> None:
    content = small.documents()
    content[RUNC]["status"] = "alive"
    with pytest.raises(CommandError, match=rf"(?s)Nothing was loaded\..*{RUNC}: status: "):
        call_command("load_content", "--from", str(small.write(tmp_path, content)))
    assert nothing_is_loaded()


def test_a_file_that_is_not_there_cannot_be_asked_to_overwrite(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"primitives/nothing\.yaml: asked to be overwritten"):
        call_command(
            "load_content",
            "--from",
            str(small.write(tmp_path, small.documents())),
            "--overwrite",
            "primitives/nothing.yaml",
        )
    assert nothing_is_loaded()
