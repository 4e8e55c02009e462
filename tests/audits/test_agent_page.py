import datetime
import re

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audits.models import Agent, AgentAudit, Posture
from evidence.models import Label
from primitives.models import Platform
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_claim,
    make_platform,
    make_posture,
    make_primitive,
    make_tier,
)

pytestmark = pytest.mark.django_db

MOST_QUERIES = 8


def page_of(client: Client, slug: str, platform: str | None = None, **headers: str) -> BeautifulSoup:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.get(f"/audits/{slug}/", {"platform": platform} if platform is not None else {}, headers=named)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def text(element: Tag | None) -> str:
    assert element is not None
    return " ".join(element.get_text(" ").split()).replace(" ,", ",").replace(" .", ".").replace(" :", ":")


def verdict(page: BeautifulSoup) -> str:
    return text(page.select_one(".verdict > span"))


def chosen(page: BeautifulSoup) -> str:
    """The platform that the verdict is for."""
    (link,) = page.select(".platforms a[aria-current]")
    return link["href"].removeprefix("?platform=")


def posture(page: BeautifulSoup, mode: str) -> Tag:
    (found,) = (article for article in page.select("article.posture") if text(article.h4) == mode)
    return found


def reach(article: Tag) -> dict[str, str]:
    return {text(line.dt): text(line.dd) for line in article.select(".reach > div")}


# ---- the verdict ----


def everywhere(slug: str = "everywhere") -> AgentAudit:
    """An agent with another default on each platform."""
    for place, platform in enumerate(["linux", "macos", "windows", "vendor-cloud"], 1):
        make_platform(platform, position=place, name={"macos": "macOS"}.get(platform, platform.capitalize()))
    audit = make_audit(make_agent(slug, vendor="Acme"), "cli", name="Acme CLI", postures=[])
    seatbelt = make_primitive("seatbelt", name="Seatbelt")
    make_tier("process-sandbox", name="Process sandbox")
    make_tier("microvm", name="microVM")
    make_posture(audit, mode="bare", platforms=("linux",))
    make_posture(audit, "process-sandbox", mode="belted", platforms=("macos",), primitives=(seatbelt,))
    make_posture(audit, mode="dark", platforms=("windows",), isolation="undisclosed")
    make_posture(audit, "microvm", mode="boxed", platforms=("vendor-cloud",))
    return audit


@pytest.mark.parametrize(
    ("platform", "sentence", "look"),
    [
        ("linux", "On Linux, out of the box, Acme CLI runs commands with your own rights: nothing holds them.", "none"),
        (
            "macos",
            "On macOS, out of the box, Acme CLI runs commands in Seatbelt: a process sandbox on your own kernel.",
            "shared",
        ),
        (
            "windows",
            "On Windows, out of the box, Acme CLI runs commands in something that Acme does not disclose.",
            "undisclosed",
        ),
        (
            "vendor-cloud",
            "In the vendor’s cloud, out of the box, Acme CLI runs commands in a microVM with a kernel of its own.",
            "own",
        ),
    ],
)
def test_the_verdict_says_in_one_sentence_what_runs_on_the_platform_asked_for(
    client: Client, platform: str, sentence: str, look: str
) -> None:
    everywhere()
    page = page_of(client, "everywhere", platform)
    assert verdict(page) == sentence
    assert look in page.select_one(".verdict")["class"]
    assert chosen(page) == platform
    (drawing,) = page.select(".head-with-plate .core-sample.large")
    of = {"own": "own-kernel", "shared": "wall", "undisclosed": "unknown"}
    assert [look for look, layer in of.items() if drawing.select(f".layer-{layer}")] == [look] * (look in of)
    first = page.select_one("h1").find_next_sibling()
    assert "verdict" in first["class"]


def test_a_shared_kernel_in_the_vendors_cloud_is_the_hosts_not_the_readers(client: Client) -> None:
    audit = make_audit(make_agent("cloudy"), postures=[])
    make_posture(audit, "container", platforms=("vendor-cloud",))
    assert verdict(page_of(client, "cloudy")).endswith("runs commands in a container on its host’s kernel.")


def test_several_primitives_are_named_as_in_a_sentence_and_linked(client: Client) -> None:
    parts = tuple(make_primitive(slug, name=slug.capitalize()) for slug in ("landlock", "seccomp", "wsl"))
    audit = make_audit(make_agent("three"), postures=[])
    make_posture(audit, "container", primitives=parts)
    page = page_of(client, "three")
    assert "runs commands in Landlock, Seccomp and Wsl: a container on your own kernel." in verdict(page)
    assert {link["href"] for link in page.select(".verdict a")} == {
        *(f"/primitives/{part.slug}/" for part in parts),
        "/ladder/container/",
    }


def test_each_platform_that_the_agent_is_offered_on_can_be_switched_to_by_a_link(client: Client) -> None:
    everywhere()
    links = page_of(client, "everywhere", "linux").select(".platforms a")
    assert [link["href"] for link in links] == [
        f"?platform={platform}" for platform in ("linux", "macos", "windows", "vendor-cloud")
    ]
    assert [text(link.span) for link in links][:2] == ["Linux", "macOS"]
    assert [set(link.select_one(".verdict-cell")["class"]) - {"verdict-cell"} for link in links] == [
        {"bare"},
        {"shared"},
        {"undisclosed"},
        {"own"},
    ]


WINDOWS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
MACOS = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME_OS = (
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
ANDROID = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
)
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
IPAD = (
    "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148"
)


@pytest.mark.parametrize(
    ("hint", "agent", "platform"),
    [
        (None, WINDOWS, "windows"),
        (None, MACOS, "macos"),
        (None, LINUX, "macos"),
        (None, CHROME_OS, "macos"),
        ('"Windows"', WINDOWS, "windows"),
        ('"macOS"', MACOS, "macos"),
        ('"macOS"', WINDOWS, "macos"),
        ('"Windows"', None, "windows"),
        ('"Android"', WINDOWS, "macos"),
        ("", WINDOWS, "windows"),
        (None, ANDROID, "macos"),
        (None, IPHONE, "macos"),
        (None, None, "macos"),
        (None, "", "macos"),
        (None, "curl/8.14.1", "macos"),
        (None, "' OR 1=1 --", "macos"),
        (None, "<script>alert(1)</script>" * 300, "macos"),
        ('"<b>"', "\xff\x01", "macos"),
    ],
)
def test_the_platform_is_guessed_from_what_the_browser_says(
    client: Client, hint: str | None, agent: str | None, platform: str
) -> None:
    """Without a guess, or where the agent is not offered, the first platform stands: here macOS."""
    audit = make_audit(make_agent("one"), postures=[])
    make_platform("macos", position=2)
    make_platform("windows", position=3)
    make_posture(audit, platforms=("macos",))
    make_posture(audit, "container", platforms=("windows",))
    said = {"Sec-CH-UA-Platform": hint, "User-Agent": agent}
    response = client.get("/audits/one/", headers={name: value for name, value in said.items() if value is not None})
    assert response.status_code == 200
    assert chosen(BeautifulSoup(response.content, "html.parser")) == platform


@pytest.mark.parametrize(
    ("hint", "agent", "guessed"),
    [
        (None, LINUX, True),
        (None, CHROME_OS, True),
        ('"Linux"', None, True),
        ('"Chrome OS"', CHROME_OS, True),
        (None, ANDROID, False),
        ('"Android"', ANDROID, False),
        ('"Android"', LINUX, False),
        (None, IPHONE, False),
        (None, IPAD, False),
        (None, None, False),
    ],
)
def test_linux_is_guessed_from_linux_and_chromeos_and_from_no_phone(
    client: Client, hint: str | None, agent: str | None, guessed: bool
) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    make_platform("linux", position=9)
    make_platform("windows", position=3)
    make_posture(audit, platforms=("linux",))
    make_posture(audit, "container", platforms=("windows",))
    said = {"Sec-CH-UA-Platform": hint, "User-Agent": agent}
    response = client.get("/audits/one/", headers={name: value for name, value in said.items() if value is not None})
    assert chosen(BeautifulSoup(response.content, "html.parser")) == ("linux" if guessed else "windows")


def test_what_is_asked_for_in_the_address_goes_before_any_guess(client: Client) -> None:
    everywhere()
    assert chosen(page_of(client, "everywhere", "linux", user_agent=WINDOWS)) == "linux"
    for odd in ("", "beos", "android", "\x00", "x" * 5000, "<script>", "LINUX"):
        assert chosen(page_of(client, "everywhere", odd, user_agent=WINDOWS)) == "windows"


def test_what_the_page_depends_on_is_said_to_caches(client: Client) -> None:
    everywhere()
    vary = client.get("/audits/everywhere/")["Vary"]
    assert "User-Agent" in vary
    assert "Sec-CH-UA-Platform" in vary


# ---- surfaces and postures ----


def test_what_a_posture_reaches_is_said_and_unknown_where_nobody_says(client: Client) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    make_posture(
        audit,
        "container",
        mode="told",
        filesystem_read="whole `disk`",
        filesystem_write="workspace",
        network="off",
        credentials="the user's own",
        approvals="each command",
        on_failure="fails-open",
    )
    make_posture(audit, "container", mode="untold", is_default=False)
    make_posture(audit, mode="bare", is_default=False)
    page = page_of(client, "one")
    assert reach(posture(page, "told")) == {
        "Reads": "whole disk",
        "Writes": "workspace",
        "Network": "off",
        "Credentials": "the user's own",
        "A person is asked": "each command",
        "Sandbox cannot start": "runs without it, silently",
    }
    assert posture(page, "told").select_one(".reach code").get_text() == "disk"
    assert set(reach(posture(page, "untold")).values()) == {"unknown"}
    assert reach(posture(page, "bare"))["Sandbox cannot start"] == "there is none"


def test_modes_stand_strongest_first_with_their_flag_and_what_they_change(client: Client) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    bwrap = make_primitive("bubblewrap", name="Bubblewrap")
    make_posture(audit, mode="default", network_level="open", read_level="everything", credentials_level="reachable")
    make_posture(audit, mode="dark", isolation="undisclosed", is_default=False)
    make_posture(audit, mode="yolo", is_default=False, how="--yolo", position=1)
    make_posture(
        audit,
        "process-sandbox",
        mode="sandbox",
        is_default=False,
        how="`--sandbox` on the command line",
        note="Since 2.0",
        primitives=(bwrap,),
        network_level="off",
        read_level="everything",
        credentials_level="unknown",
    )
    make_posture(audit, "full-vm", mode="vm", is_default=False)
    page = page_of(client, "one")
    assert [text(heading) for heading in page.select(".surface-section h3")][:2] == ["By default", "Can be turned on"]
    assert [text(item) for item in page.select("article.posture h4")] == ["default", "vm", "sandbox", "yolo", "dark"]
    sandbox = posture(page, "sandbox")
    assert text(sandbox.select_one(".how")) == "Turned on with --sandbox on the command line"
    assert "Since 2.0" in text(sandbox)
    assert sandbox.select_one('.stands-on a[href="/primitives/bubblewrap/"]')
    assert [text(item) for item in sandbox.select(".changes li")] == ["network: open → becomes off"]
    assert not posture(page, "default").select(".changes, .how")


def test_a_mode_is_compared_with_the_default_of_its_own_platform(client: Client) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    make_posture(audit, mode="on linux", platforms=("linux",), network_level="open")
    make_posture(audit, mode="on macos", platforms=("macos",), network_level="off")
    make_posture(audit, mode="more", platforms=("macos",), network_level="filtered", is_default=False)
    make_posture(audit, mode="elsewhere", platforms=("windows",), network_level="off", is_default=False)
    page = page_of(client, "one")
    assert [text(item) for item in posture(page, "more").select(".changes li")] == [
        "network: off → becomes allow list or proxy"
    ]
    assert not posture(page, "elsewhere").select(".changes")


def test_each_surface_has_a_section_of_its_own_in_order(client: Client) -> None:
    agent = make_agent("one")
    make_audit(agent, "cloud", name="Cloud", kind="cloud", position=2, postures=[{"mode": "in the cloud"}])
    make_audit(agent, "cli", name="CLI", kind="cli", position=1, postures=[{"mode": "on the line"}])
    sections = page_of(client, "one").select(".surface-section")
    assert [text(section.h2) for section in sections] == ["CLI command line", "Cloud cloud"]
    assert [section.h2["id"] for section in sections] == ["cli", "cloud"]
    assert [text(section.h4) for section in sections] == ["on the line", "in the cloud"]


def test_ways_out_are_named_as_such_and_lead_to_their_claims(client: Client) -> None:
    audit = make_audit(make_agent("one"))
    assert not page_of(client, "one").select(".ways-out")
    make_claim(audit, slug="yolo-flag", aspect="escape-hatch", sentence="`--yolo` turns the sandbox off.")
    page = page_of(client, "one")
    (item,) = page.select(".ways-out li")
    assert "--yolo turns the sandbox off." in text(item)
    assert item.a["href"] == "#yolo-flag"
    assert page.select_one("li.claim#yolo-flag")


def test_what_the_vendor_does_not_disclose_is_a_block_with_where_and_when_it_was_looked_for(client: Client) -> None:
    audit = make_audit(make_agent("one", vendor="Acme"))
    assert not page_of(client, "one").select(".silence")
    make_claim(
        audit,
        Label.UNDISCLOSED,
        slug="no-word",
        sentence="What holds it is not stated.",
        looked="The documentation and the blog",
        as_of=datetime.date(2026, 8, 3),
    )
    page = page_of(client, "one")
    assert text(page.select_one(".silence h2")) == "What Acme does not disclose"
    (item,) = page.select(".silence li")
    assert text(item).startswith(
        "What holds it is not stated. Looked in: The documentation and the blog, 3 August 2026."
    )
    assert item.time["datetime"] == "2026-08-03"
    assert item.a["href"] == "#no-word"


def test_how_to_check_that_a_sandbox_is_on_is_said_where_a_claim_says_how(client: Client) -> None:
    agent = make_agent("one")
    told = make_audit(agent, "told", postures=[{"tier": "container", "is_default": False}, {}], position=1)
    make_claim(told, slug="warns", sentence="It warns where `bwrap` is missing.", says_how_to_check=True)
    make_claim(told, slug="boxed")
    make_audit(agent, "untold", postures=[{"isolation": "undisclosed"}], position=2)
    make_audit(agent, "bare", position=3)
    first, second, third = page_of(client, "one").select(".surface-section")
    assert text(first.select_one(".checks h3")) == "How to check that the sandbox is on"
    (item,) = first.select(".checks li")
    assert text(item).startswith("It warns where bwrap is missing.")
    assert first.select_one(f"li.claim{item.a['href']}")
    assert text(second.select_one(".checks p")) == "None of the claims below says how."
    assert not third.select(".checks")


def test_claims_are_grouped_by_aspect_and_breaks_by_year(client: Client) -> None:
    agent = make_agent("one")
    audit = make_audit(agent, postures=[])
    claims = [make_claim(audit, aspect=aspect) for aspect in ("network", "boundary", "escape-hatch")]
    make_posture(audit, claims=claims)
    make_agent_break(agent, "CVE-2024-1", year=2024)
    make_agent_break(agent, "CVE-2026-1", year=2026, nickname="Curtain", fixed_in="1.2")
    page = page_of(client, "one")
    assert [text(heading) for heading in page.select(".claims h4")] == ["Boundary", "Network", "Escape hatches"]
    assert [text(heading) for heading in page.select(".breaks h3")] == ["2026", "2024"]
    first, second = page.select(".break-list li")
    assert "CVE-2026-1 (Curtain)" in text(first)
    assert "Fixed in 1.2" in text(first)
    assert "Fixed version unknown" in text(second)
    assert "no published bypass" in text(page_of(client, make_audit().agent.slug).select_one(".breaks"))


def test_a_posture_leads_to_the_claims_that_it_rests_on_and_wears_the_weakest_label(client: Client) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    claims = [make_claim(audit, label, slug=str(label)) for label in (Label.INFERRED, Label.VERIFIED_CODE)]
    make_claim(audit, Label.UNDISCLOSED)
    make_posture(audit, claims=claims)
    article = page_of(client, "one").select_one("article.posture")
    assert [link["href"] for link in article.select(".rests-on a")] == ["#inferred", "#verified-code"]
    assert text(article.select_one("header .stamp")) == "inferred"


def test_curators_text_cannot_become_markup(client: Client) -> None:
    nasty = '<script>alert(1)</script> `<b>` "><img src=x onerror=alert(1)>'
    agent = make_agent("one", name="One <i>x</i>", vendor="<u>Acme</u>", license="<s>MIT</s>")
    audit = make_audit(agent, name="<i>CLI</i>", postures=[])
    fields = ("note", "how", "filesystem_read", "filesystem_write", "network", "credentials", "approvals")
    primitive = make_primitive("box", name="<i>Box</i>")
    claims = [
        make_claim(audit, Label.UNDISCLOSED, sentence=nasty, looked=nasty, version="<u>1</u>"),
        make_claim(audit, Label.INFERRED, sentence=nasty, reasoning=nasty, aspect="escape-hatch"),
    ]
    for is_default in (True, False):
        make_posture(
            *(audit, "container"),
            mode=f"<s>{is_default}</s>",
            is_default=is_default,
            primitives=(primitive,),
            claims=claims,
            **dict.fromkeys(fields, nasty),
        )
    make_agent_break(agent, "<s>CVE</s>", summary=nasty, nickname="<i>Nick</i>", fixed_in="<u>1</u>")
    page = page_of(client, "one")
    assert not page.select("main script, main img, main u, main s, main i, main b b")
    assert "<b>" in page.select_one(".reach code").get_text()
    assert text(page.h1) == "One <i>x</i>"
    for address in ("/audits/", "/audits/?rows=surfaces", "/ladder/container/", "/primitives/box/"):
        body = BeautifulSoup(client.get(address).content, "html.parser")
        assert "One <i>x</i>" in body.get_text()
        assert not body.select("main script, main img, main u, main s, main i"), address


def test_an_agent_that_never_was_is_a_404_in_the_sites_own_dress(client: Client) -> None:
    response = client.get("/audits/never-was/")
    assert response.status_code == 404
    assert BeautifulSoup(response.content, "html.parser").select_one(".masthead")


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_an_agents_page_only_reads(client: Client, method: str) -> None:
    make_audit(make_agent("one"))
    assert getattr(client, method)("/audits/one/").status_code == 405


def test_an_agents_page_costs_as_many_queries_whatever_it_holds(client: Client) -> None:
    small = make_agent("small")
    audit = make_audit(small, postures=[])
    make_posture(audit, "container", primitives=(make_primitive(),))
    make_agent_break(small)
    large = make_agent("large")
    for number in range(5):
        audit = make_audit(large, f"surface-{number}", postures=[])
        for place, platform in enumerate(["linux", "macos", "windows"]):
            claims = [make_claim(audit, Label.VERIFIED_CODE, sources=["code", "doc"]) for _ in range(3)]
            make_posture(audit, "container", platforms=(platform,), primitives=(make_primitive(),), claims=claims)
            make_posture(audit, mode=f"mode {place}", platforms=(platform,), is_default=False)
        make_agent_break(large, f"CVE-2025-{number}")
    with CaptureQueriesContext(connection) as few:
        page_of(client, "small")
    with CaptureQueriesContext(connection) as many:
        page_of(client, "large")
    assert len(few) == len(many) <= MOST_QUERIES


# ---- every agent ----


@pytest.mark.usefixtures("content")
def test_every_published_posture_is_shown_as_it_is_and_wears_its_weakest_label(client: Client) -> None:
    """And each page is whole: one h1, ids once, every anchor there, all claims and breaks, the cells of the matrix."""
    in_the_matrix = cells_of_the_matrix(client)
    strength = [label.value for label in Label]
    postures = 0
    agents = Agent.objects.prefetch_related(
        *("breaks", "audits__claims", "audits__postures__claims", "audits__postures__tier"),
        *("audits__postures__platforms", "audits__postures__primitives"),
    )
    for agent in agents:
        with CaptureQueriesContext(connection) as queries:
            page = page_of(client, agent.slug)
        assert len(queries) <= MOST_QUERIES, agent
        assert len(page.select("h1")) == 1
        ids = [element["id"] for element in page.select("[id]")]
        assert len(ids) == len(set(ids)), (agent, [item for item in ids if ids.count(item) > 1])
        anchors = {link["href"][1:] for link in page.select('a[href^="#"]')}
        assert anchors <= set(ids), (agent, anchors - set(ids))
        for element in page.select("[aria-labelledby]"):
            assert set(element["aria-labelledby"].split()) <= set(ids)
        offered = {link["href"]: text(link.select_one(".verdict-cell")) for link in page.select(".platforms a")}
        assert offered == in_the_matrix[agent.slug]
        for audit in agent.audits.all():
            section = page.select_one(f'h2[id="{audit.slug}"]').find_parent("section")
            assert {item["id"] for item in section.select("li.claim")} == {claim.slug for claim in audit.claims.all()}
            articles = section.select("article.posture")
            of_page = sorted((shown_posture(article) for article in articles), key=repr)
            of_database = []
            for item in audit.postures.all():
                claims = list(item.claims.all())
                assert claims, item
                assert (item.tier is not None) is (item.isolation == "isolated"), item
                of_database.append(
                    (
                        item.mode,
                        ", ".join(platform.name for platform in item.platforms.all()),
                        item.tier.name if item.tier else {"none": "None", "undisclosed": "Undisclosed"}[item.isolation],
                        max((claim.label for claim in claims), key=strength.index),
                        frozenset(claim.slug for claim in claims),
                        frozenset(primitive.slug for primitive in item.primitives.all()),
                    )
                )
            assert of_page == sorted(of_database, key=repr)
            postures += len(articles)
        assert len(page.select(".break-list li")) == agent.breaks.count()
    assert postures == Posture.objects.count() > 250


def cells_of_the_matrix(client: Client) -> dict[str, dict[str, str]]:
    """What each agent's row says, by the address of the platform on the agent's page."""
    page = BeautifulSoup(client.get("/audits/").content, "html.parser")
    slugs = dict(Platform.objects.values_list("name", "slug"))
    return {
        row.th.a["href"].split("/")[2]: {
            f"?platform={slugs[cell['data-platform']]}": text(cell.select_one(".verdict-cell"))
            for cell in row.select("td:not(.not-offered)")
        }
        for row in page.select(".matrix tr:has(td)")
    }


def shown_posture(article: Tag) -> tuple[object, ...]:
    if "undisclosed" in article["class"]:
        assert [use["href"] for use in article.select("header use")] == ["#sample-undisclosed"]
    return (
        text(article.h4),
        text(article.select_one(".where")),
        text(article.select_one(".verdict-cell b")),
        text(article.select_one("header .stamp")),
        frozenset(link["href"][1:] for link in article.select(".rests-on a")),
        frozenset(link["href"].split("/")[2] for link in article.select(".stands-on a")),
    )


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(
    ("agent", "platform", "sentence"),
    [
        (
            "codex",
            "macos",
            r"On macOS, out of the box, Codex CLI runs commands in Seatbelt.*: a process sandbox on your own kernel\.",
        ),
        (
            "claude-code",
            "linux",
            r"On Linux, out of the box, Claude Code CLI.* runs commands with your own rights: nothing holds them\.",
        ),
        (
            "v0",
            "vendor-cloud",
            r"In the vendor.s cloud, out of the box, v0.* runs commands in .*a microVM with a kernel of its own\.",
        ),
        (
            "devin",
            "vendor-cloud",
            r"In the vendor.s cloud, .* runs commands in something that Cognition does not disclose\.",
        ),
        ("bolt", "browser", r"In a web browser, out of the box, .* a process sandbox on your own kernel\."),
    ],
)
def test_the_verdicts_of_the_pack(client: Client, agent: str, platform: str, sentence: str) -> None:
    assert re.fullmatch(sentence, verdict(page_of(client, agent, platform)))
