import re
from collections import Counter
from functools import partial
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from audits.filters import AuditFilterSet
from audits.models import Agent, AgentAudit, Posture, PosturePlatform
from evidence.models import Label
from ladder.models import Tier
from tests.audits.expected import Expected, State, offers
from tests.factories import (
    make_agent,
    make_agent_break,
    make_audit,
    make_claim,
    make_posture,
    make_primitive,
    make_tier,
)
from tests.htmx import Reader, shown
from tests.sql import numbers_of_queries, sql

pytestmark = pytest.mark.django_db

MATRIX = "/audits/"
MOST_QUERIES = 8
PLATFORMS = ["linux", "macos", "windows", "vendor-cloud"]
FACETS = [
    *("platform", "isolation", "side", "tier", "at_least", "read", "write", "network", "approvals", "failure", "kind"),
    *("open_source", "vendor"),
]


def page_of(client: Client, **query: object) -> BeautifulSoup:
    response = client.get(MATRIX, query)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def text(element: Tag | None) -> str:
    assert element is not None
    return " ".join(element.get_text(" ").split())


def rows(page: BeautifulSoup) -> dict[str, dict[str, Tag]]:
    """The cells of each row by the platform's name."""
    return {
        name_of(row): {cell["data-platform"]: cell for cell in row.select("td")}
        for row in page.select(".matrix tr:has(td)")
    }


def name_of(row: Tag) -> str:
    """An agent's name, or a surface's with its agent's."""
    of = text(row.th.small).rsplit(", ", 1)
    return f"{text(row.th.a)} ({of[0]})" if "#" in row.th.a["href"] else text(row.th.a)


def names(page: BeautifulSoup) -> list[str]:
    return [name_of(row) for row in page.select(".matrix tr:has(td)")]


def number_found(page: BeautifulSoup) -> int:
    return int(re.match(r"\d+", text(page.select_one("#count")))[0])


def counts(page: BeautifulSoup, facet: str) -> dict[str, int]:
    return {
        option.input["value"]: int(text(option.select_one(".count")))
        for option in page.select("label.option")
        if option.input["name"] == facet
    }


def says(cell: Tag) -> tuple[str, str]:
    """What a cell says: the class that it has for it, and its own words, without those of other surfaces."""
    verdict = cell.select_one(".verdict-cell")
    (kind,) = set(verdict["class"]) - {"verdict-cell"}
    return kind, text(verdict)


def others(cell: Tag) -> list[str]:
    return [text(other).replace(" :", ":") for other in cell.select(".other")]


# ---- what the cells say ----

NONE = ("bare", "None your own rights")
UNDISCLOSED = ("undisclosed", "Undisclosed the vendor does not say")
NOT_OFFERED = ("not-offered", "not offered")
PROCESS = ("shared", "Process sandbox shared kernel")
CONTAINER = ("shared", "Container shared kernel")
MICROVM = ("own", "microVM own kernel")
# Read in ../shared/research/agents, by hand: of each the default on Linux, macOS, Windows and in the vendor's cloud.
EXPECTED = {
    # open
    "SWE-agent": (CONTAINER, CONTAINER, NOT_OFFERED, NOT_OFFERED),
    "OpenAI Agents SDK": (NONE, PROCESS, CONTAINER, NOT_OFFERED),
    # closed
    "Cursor": (PROCESS, PROCESS, PROCESS, UNDISCLOSED),
    "Devin": (NONE, NONE, NONE, UNDISCLOSED),
    "v0": (NOT_OFFERED, NOT_OFFERED, NOT_OFFERED, MICROVM),
}


@pytest.mark.usefixtures("content")
def test_five_agents_have_the_cells_that_the_pack_gives_them(client: Client) -> None:
    shown_rows = rows(page_of(client))
    for agent, cells in EXPECTED.items():
        by_name = {name: says(cell) for name, cell in shown_rows[agent].items()}
        assert tuple(by_name[name] for name in ("Linux", "macOS", "Windows", "Vendor's cloud")) == cells, agent


@pytest.mark.usefixtures("content")
def test_other_surfaces_are_named_where_they_differ_and_only_there(client: Client) -> None:
    shown_rows = rows(page_of(client))
    assert others(shown_rows["Cursor"]["macOS"]) == ["Cursor CLI: undisclosed"]
    assert others(shown_rows["Devin"]["Vendor's cloud"]) == []
    assert others(shown_rows["Cline"]["Linux"]) == []
    assert others(shown_rows["Claude Code"]["macOS"]) == [
        "Claude Cowork (Claude Desktop, Cowork tab): full VM",
        "Reference dev container: container",
    ]
    assert others(shown_rows["Claude Code"]["Linux"]) == [
        "Claude Cowork (Claude Desktop, Cowork tab): undisclosed",
        "Reference dev container: container",
    ]
    assert others(shown_rows["GitHub Copilot"]["Vendor's cloud"]) != []


def test_the_four_states_differ_in_class_and_in_words(client: Client) -> None:
    make_tier("microvm", name="microVM")
    audit = make_audit(make_agent("four"), postures=[{"platforms": ("linux",)}])
    make_posture(audit, "microvm", platforms=("macos",))
    make_posture(audit, platforms=("windows",), isolation="undisclosed")
    make_audit(make_agent("elsewhere"), postures=[{"platforms": ("vendor-cloud",)}])
    cells = rows(page_of(client))["four"]
    said = [says(cells[platform]) for platform in PLATFORMS]
    assert said == [NONE, MICROVM, UNDISCLOSED, NOT_OFFERED]
    classes = [tuple(cells[platform]["class"]) for platform in PLATFORMS]
    assert len(set(classes)) == 4
    assert [bool(cells[platform].select(".stamp")) for platform in PLATFORMS] == [True, True, True, False]
    drawn = [[use["href"] for use in cells[platform].select("use")] for platform in PLATFORMS]
    assert drawn == [["#sample-none"], ["#sample-5"], ["#sample-undisclosed"], []]


def test_a_cell_wears_the_weakest_label_of_what_its_posture_rests_on(client: Client) -> None:
    audit = make_audit(make_agent("one"), postures=[])
    strong, weak = make_claim(audit, Label.VERIFIED_CODE), make_claim(audit, Label.INFERRED)
    make_claim(audit, Label.UNDISCLOSED)  # that nothing rests on
    make_posture(audit, platforms=("linux",), claims=[strong, weak])
    make_posture(audit, platforms=("macos",), claims=[strong])
    cells = rows(page_of(client))["one"]
    assert text(cells["linux"].select_one(".stamp")) == "inferred"
    assert text(cells["macos"].select_one(".stamp")) == "verified-code"


def test_the_first_surface_offered_on_a_platform_speaks_for_the_agent(client: Client) -> None:
    agent = make_agent("one")
    make_audit(
        agent, "second", kind="ide", position=2, postures=[{"tier": "container", "platforms": ("linux", "macos")}]
    )
    make_audit(agent, "first", kind="cli", position=1, postures=[{"platforms": ("linux",)}])
    cells = rows(page_of(client))["one"]
    assert says(cells["linux"])[0] == "bare"
    assert others(cells["linux"]) == ["one second: container"]
    assert says(cells["macos"])[0] == "shared"
    assert others(cells["macos"]) == []
    assert "command line" in text(cells["linux"])
    assert "editor" in text(cells["macos"])


def test_a_row_can_be_a_surface(client: Client) -> None:
    agent = make_agent("one")
    make_audit(agent, "cli", kind="cli", position=1, postures=[{"platforms": ("linux",)}])
    make_audit(agent, "ide", kind="ide", position=2, postures=[{"tier": "container", "platforms": ("linux", "macos")}])
    page = page_of(client, rows="surfaces")
    assert text(page.select_one("#count")) == "2 surfaces"
    shown_rows = rows(page)
    assert list(shown_rows) == ["one cli (one)", "one ide (one)"]
    assert [says(cell)[0] for cell in shown_rows["one cli (one)"].values()][:2] == ["bare", "not-offered"]
    assert [says(cell)[0] for cell in shown_rows["one ide (one)"].values()][:2] == ["shared", "shared"]
    assert not page.select(".other")
    assert [link["href"] for link in page.select(".matrix th a")] == ["/audits/one/#cli", "/audits/one/#ide"]


@pytest.mark.usefixtures("content")
def test_every_agent_and_every_surface_has_a_row_and_every_default_a_cell(client: Client) -> None:
    assert sorted(names(page_of(client))) == sorted(Agent.objects.values_list("name", flat=True))
    seen: Counter[str] = Counter()
    cells = 0
    for number in (1, 2):
        page = page_of(client, rows="surfaces", page=number)
        seen.update(names(page))
        cells += len(page.select(".matrix td .stamp"))
    assert seen == Counter(f"{audit.name} ({audit.agent.name})" for audit in AgentAudit.objects.select_related("agent"))
    assert cells == PosturePlatform.objects.filter(posture__is_default=True).count()


@pytest.mark.usefixtures("content")
def test_what_is_undisclosed_is_given_no_rung_and_no_kernel(client: Client) -> None:
    rungs = [tier.name.lower() for tier in Tier.objects.all()]
    number = 0
    for page in (page_of(client), page_of(client, rows="surfaces"), page_of(client, rows="surfaces", page=2)):
        for cell in page.select(".verdict-cell.undisclosed"):
            number += 1
            holder = cell.find_parent("td")
            assert "undisclosed" in holder["class"]
            assert not {"shared", "own", "none", "isolated"} & set(holder["class"])
            assert [use["href"] for use in cell.select("use")] == ["#sample-undisclosed"]
            assert not any(word in text(cell).lower() for word in [*rungs, "kernel"])
    assert number > 50


# ---- filters and their counts ----

STATES: list[State] = [
    {},
    {"platform": ["linux"]},
    {"isolation": ["none"]},
    {"isolation": ["undisclosed"], "platform": ["vendor-cloud"]},
    {"isolation": ["isolated", "undisclosed"], "platform": ["macos", "windows"]},
    {"side": ["shared"], "network": ["off", "filtered"]},
    {"tier": ["process-sandbox", "container"], "failure": ["warns", "unknown"]},
    {"read": ["everything"], "write": ["workspace"], "approvals": ["outside", "model"]},
    {"at_least": ["container"], "platform": ["linux"]},
    {"at_least": ["microvm", "full-vm"]},
    {"kind": ["ide", "cloud"], "open_source": ["no"]},
    {"kind": ["ci"], "failure": ["fails-closed", "fails-open", "warns"]},
    {"vendor": ["Google", "OpenAI"], "approvals": ["each", "unknown"]},
    {"open_source": ["yes"], "platform": ["windows"], "isolation": ["isolated"]},
]


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("by_surface", [False, True])
def test_rows_order_counts_and_summaries_are_those_counted_from_the_postures(client: Client, by_surface: bool) -> None:
    all_offers, ranks = offers(), dict(Tier.objects.values_list("slug", "rank"))
    for state in STATES[::2] if by_surface else STATES:
        expected = Expected(all_offers, ranks, state, by_surface=by_surface)
        query = {**state, **({"rows": "surfaces"} if by_surface else {})}
        pages = [page_of(client, **query)]
        if pages[0].select_one("[rel=next]"):
            pages.append(page_of(client, page=2, **query))
        by_name = [name for page in pages for name in names(page)]
        assert set(by_name) == expected.rows(), state
        assert len(by_name) == number_found(pages[0]), state

        for facet in FACETS:
            options = counts(pages[0], facet)
            assert options, facet
            for value, count in options.items():
                assert count == len(expected.rows(**{facet: [value]})), (state, facet, value)

        said = summaries(pages[0])
        assert said == counted_from_the_rows(pages, state), state

        strengths = expected.strengths()
        by_rung = [
            name for page in range(len(pages)) for name in names(page_of(client, sort="tier", page=page + 1, **query))
        ]
        assert by_rung == sorted(by_name, key=lambda name: -strengths[name]), state


def summaries(page: BeautifulSoup) -> dict[str, list[int]]:
    """What each sentence says, by what it says it of."""
    found = {}
    for item in page.select(".summaries li"):
        where = re.search(r"(?:run|runs|offered) (?:on (.+)|in the (vendor.s cloud)|in a (web browser))$", text(item.b))
        assert where, text(item.b)
        place = where[1] or ("Vendor's cloud" if where[2] else "Web browser")
        found[place] = [int(number) for number in re.findall(r"\d+", text(item))]
    return found


def counted_from_the_rows(pages: list[BeautifulSoup], state: State) -> dict[str, list[int]]:
    """The same numbers, counted from what the rows show: all, none, shared, own, undisclosed."""
    found: dict[str, Counter[str]] = {}
    slugs = {
        option["value"]: text(option.find_parent("label").select_one(".text"))
        for option in pages[0].select("input[name=platform]")
    }
    asked = [slugs[slug] for slug in state.get("platform", [])]
    for page in pages:
        for cells in rows(page).values():
            for platform, cell in cells.items():
                kind = says(cell)[0]
                if kind != "not-offered" and (not asked or platform in asked):
                    found.setdefault(platform, Counter())[kind] += 1
    return {
        platform: [sum(of.values()), *(of[kind] for kind in ("bare", "shared", "own", "undisclosed"))]
        for platform, of in found.items()
    }


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("bare", ["", "rows=surfaces", "platform=macos&isolation=none"])
def test_each_option_leads_to_as_many_rows_as_its_count_says(bare: str) -> None:
    there = AuditFilterSet(QueryDict(bare))
    followed = 0
    for facet in there.facets():
        for value, _ in facet.options:
            query = QueryDict(bare, mutable=True)
            query.setlist(facet.name, [value])
            assert AuditFilterSet(query).found().count() == facet.numbers.get(value, 0), query.urlencode()
            followed += 1
    assert followed > 90


def test_all_filters_speak_of_the_same_default_posture(client: Client) -> None:
    audit = make_audit(make_agent("off-on-macos"), postures=[])
    make_posture(audit, "container", platforms=("macos",), network_level="off", write_level="workspace")
    make_posture(audit, "container", platforms=("linux",), network_level="open", write_level="everything")
    make_posture(audit, "microvm", platforms=("linux",), network_level="off", is_default=False)
    assert names(page_of(client, platform="macos", network="off")) == ["off-on-macos"]
    assert names(page_of(client, platform="linux", network="off")) == []
    assert names(page_of(client, network="off", write="everything")) == []
    assert names(page_of(client, network="open", write="everything")) == ["off-on-macos"]
    assert counts(page_of(client, platform="linux"), "network") == {"open": 1, "filtered": 0, "off": 0, "unknown": 0}


def test_a_filter_asks_only_the_surface_that_speaks_for_the_agent(client: Client) -> None:
    agent = make_agent("one")
    make_audit(agent, "cli", kind="cli", position=1, postures=[{"network_level": "open"}])
    make_audit(agent, "ide", kind="ide", position=2, postures=[{"network_level": "off", "tier": "container"}])
    assert names(page_of(client, network="off")) == []
    assert names(page_of(client, network="off", kind="ide")) == ["one"]
    page = page_of(client, kind="ide")
    assert says(rows(page)["one"]["linux"])[0] == "shared"
    assert others(rows(page)["one"]["linux"]) == []
    assert names(page_of(client, network="off", rows="surfaces")) == ["one ide (one)"]


def test_unknown_on_failure_is_not_said_of_what_holds_nothing(client: Client) -> None:
    make_audit(make_agent("bare"))
    make_audit(make_agent("silent"), postures=[{"tier": "container"}])
    make_audit(make_agent("dark"), postures=[{"isolation": "undisclosed"}])
    assert names(page_of(client, failure="unknown")) == ["dark", "silent"]
    assert counts(page_of(client), "failure") == {"fails-closed": 0, "warns": 0, "fails-open": 0, "unknown": 2}


def test_can_be_raised_asks_each_mode_of_the_surface_on_the_platforms_named(client: Client) -> None:
    for rung in ("container", "microvm"):
        make_tier(rung)
    raised = make_audit(make_agent("raised"), postures=[{"platforms": ("linux", "macos")}])
    make_posture(raised, "microvm", platforms=("macos",), is_default=False)
    make_audit(make_agent("there"), postures=[{"tier": "container", "platforms": ("linux",)}])
    make_audit(make_agent("dark"), postures=[{"isolation": "undisclosed", "platforms": ("linux",)}])
    assert names(page_of(client, at_least="container")) == ["raised", "there"]
    assert names(page_of(client, at_least="container", platform="linux")) == ["there"]
    assert names(page_of(client, at_least="container", platform="macos")) == ["raised"]
    assert names(page_of(client, at_least="microvm")) == ["raised"]
    assert counts(page_of(client, platform="linux"), "at_least") == {"microvm": 0, "container": 1}
    assert counts(page_of(client), "at_least") == {"microvm": 1, "container": 2}


def test_what_can_be_raised_is_offered_and_outlives_the_next_filter(client: Client) -> None:
    raised = make_audit(make_agent("raised"))
    make_posture(raised, "microvm", is_default=False)
    make_audit(make_agent("stuck"))
    reader = Reader(client, MATRIX)
    reader.tick("at_least", "microvm")
    reader.tick("platform", "linux")
    assert reader.address == "/audits/?platform=linux&at_least=microvm"
    assert names(reader.page) == ["raised"]


def test_search_finds_by_agent_vendor_surface_claim_and_break(client: Client) -> None:
    one = make_agent("alphabet", vendor="Bravo Limited")
    audit = make_audit(one, "cli", name="Charlie for editors", postures=[])
    make_posture(audit, claims=[make_claim(audit, sentence="It locks the delta gate.")])
    make_agent_break(one, "CVE-2025-98765")
    make_audit(make_agent("zulu"))
    for words in ("alphabet", "bravo", "charlie", "delta gate", "CVE-2025-98765", "98765"):
        assert names(page_of(client, q=words)) == ["alphabet"], words
    page = page_of(client, q="bravo", rows="surfaces")
    assert names(page) == ["Charlie for editors (alphabet)"]
    assert text(page.select_one("#count")) == "1 surface for “bravo”"


@pytest.mark.usefixtures("content")
def test_the_agent_meant_comes_first_unless_another_order_is_asked_for(client: Client) -> None:
    found = page_of(client, q="codex")
    assert names(found)[0] == "Codex"
    assert found.select_one("#sort-by option[selected]")["value"] == ""
    by_name = names(page_of(client, q="codex", sort="name"))
    assert by_name == sorted(by_name, key=str.lower)
    assert sorted(by_name) == sorted(names(found))


def test_sorted_by_rung_what_holds_nothing_is_below_every_rung_and_undisclosed_comes_last(client: Client) -> None:
    make_audit(make_agent("a-dark"), postures=[{"isolation": "undisclosed"}])
    make_audit(make_agent("b-bare"))
    make_audit(make_agent("c-weak"), postures=[{"tier": "kernel-feature"}])
    make_audit(make_agent("d-strong"), postures=[{"tier": "full-vm"}])
    mixed = make_audit(make_agent("e-mixed"), postures=[{"isolation": "undisclosed", "platforms": ("macos",)}])
    make_posture(mixed, "container", platforms=("linux",))
    make_audit(make_agent("f-dark"), postures=[{"isolation": "undisclosed"}])
    expected = ["d-strong", "e-mixed", "c-weak", "b-bare", "a-dark", "f-dark"]
    assert names(page_of(client, sort="tier")) == expected
    assert names(page_of(client, sort="tier", rows="surfaces")) == [f"{name} cli ({name})" for name in expected]
    # Where only macOS is asked about, what is undisclosed there stands with the undisclosed.
    assert names(page_of(client, sort="tier", platform="macos")) == ["e-mixed"]
    assert names(page_of(client, sort="tier", isolation=["undisclosed", "none"])) == [
        "b-bare",
        "a-dark",
        "e-mixed",
        "f-dark",
    ]


def test_sorts_by_name_whatever_the_case(client: Client) -> None:
    for name in ("beta", "Alpha", "Gamma"):
        make_audit(make_agent(name.lower(), name=name))
    assert names(page_of(client)) == ["Alpha", "beta", "Gamma"]


@pytest.mark.usefixtures("content")
def test_nothing_found_offers_to_leave_out_the_narrowest_filter(client: Client) -> None:
    state = {"tier": "full-vm", "platform": "vendor-cloud", "open_source": "yes"}
    page = page_of(client, **state)
    assert number_found(page) == 0
    assert not page.select(".matrix, .summaries")
    offer = page.select_one(".nothing a")
    number = int(re.search(r"(\d+)\.$", text(offer.parent))[1])
    followed = BeautifulSoup(client.get(offer["href"]).content, "html.parser")
    assert number_found(followed) == number > 0
    without = [{name: value for name, value in state.items() if name != left_out} for left_out in state]
    assert number == max(number_found(page_of(client, **query)) for query in without)
    assert page.select_one('.nothing a[href="/audits/"]')


def test_nothing_at_all_still_leads_back(client: Client) -> None:
    page = page_of(client, q="zzzzzz", tier="microvm", rows="surfaces")
    assert "No default fits" in text(page.select_one(".nothing"))
    assert page.select_one('.nothing a[href="/audits/"]')


# ---- drafts ----


def test_a_draft_leaks_nowhere(client: Client) -> None:
    primitive = make_primitive("bubble")
    public = make_agent("public", vendor="Public vendor")
    make_audit(
        public, "cli", position=2, postures=[{"tier": "container", "primitives": (primitive,), "platforms": ("linux",)}]
    )
    draft = make_audit(
        public, "secret-ide", kind="ide", name="Hidden surface", position=1, is_published=False, postures=[]
    )
    make_posture(
        draft,
        "microvm",
        mode="hidden mode",
        platforms=("linux", "macos"),
        primitives=(primitive,),
        network_level="off",
        claims=[make_claim(draft, slug="hidden-claim", sentence="A hidden sentence about quicksilver.")],
    )
    unseen = make_agent("unseen", vendor="Unseen vendor")
    hidden = make_audit(unseen, "cli", name="Unseen surface", is_published=False, postures=[])
    make_posture(hidden, "microvm", platforms=("windows",), primitives=(primitive,))
    make_agent("without-surface", vendor="Third vendor")

    hidden_words = [
        "hidden surface",
        "hidden mode",
        "hidden-claim",
        "hidden sentence",
        "unseen",
        "secret-ide",
        "quicksilver",
        "without-surface",
        "third vendor",
    ]
    addresses = [
        "/audits/",
        "/audits/?rows=surfaces",
        "/audits/?platform=macos",
        "/audits/?sort=tier",
        "/audits/public/",
        "/ladder/microvm/",
        "/ladder/container/",
        "/primitives/bubble/",
        "/",
    ]
    for address in addresses:
        body = client.get(address).content.decode().lower()
        assert not [word for word in hidden_words if word in body], address
    assert client.get("/audits/unseen/").status_code == 404
    assert client.get("/audits/without-surface/").status_code == 404
    assert "public" in client.get("/primitives/bubble/").content.decode()

    page = page_of(client)
    assert text(page.select_one("#count")) == "1 agent"
    assert summaries(page) == {"linux": [1, 0, 1, 0, 0]}
    assert list(counts(page, "vendor")) == ["Public vendor"]
    assert counts(page, "network") == {"open": 0, "filtered": 0, "off": 0, "unknown": 1}
    assert counts(page, "at_least")["microvm"] == 0
    assert counts(page, "kind")["ide"] == 0
    assert counts(page, "platform")["linux"] == 1
    assert sum(counts(page, "platform").values()) == 1
    for query in ({"q": "quicksilver"}, {"q": "unseen"}, {"q": "Hidden surface"}, {"at_least": "microvm"}):
        assert names(page_of(client, **query)) == [], query
    assert says(rows(page)["public"]["linux"])[0] == "shared"
    assert others(rows(page)["public"]["linux"]) == []


# ---- hostile addresses ----

ODD = [
    "\x00",
    "a\x00b",
    "x" * 10_000,
    "'",
    '"><script>alert(1)</script>',
    "%",
    "\\",
    "ÿ",
    "🦀",
    "' OR 1=1 --",
    "-1",
    "0",
]
FIELDS = ["q", *FACETS, "rows", "sort", "page", "unheard-of"]


@pytest.mark.parametrize("value", ODD)
def test_an_odd_value_is_left_out_or_refused_and_never_breaks(client: Client, value: str) -> None:
    make_audit(make_agent("one"))
    everything = {field: [value, value] for field in FIELDS if field != "page"}
    for query in (everything, {"page": value}, {"q": value, "rows": "surfaces"}):
        response = client.get(MATRIX, query)
        assert response.status_code in ((200, 404) if "page" in query else (200,)), query
        assert b"<script>alert" not in response.content


def test_unknown_values_are_named_and_left_out_while_known_ones_hold(client: Client) -> None:
    make_audit(make_agent("bare"))
    make_audit(make_agent("boxed"), postures=[{"tier": "container"}])
    page = page_of(client, isolation=["none", "nonsense"], at_least="moon")
    assert names(page) == ["bare"]
    assert [("nonsense" in text(notice), "moon" in text(notice)) for notice in page.select(".notice")] == [
        (True, False),
        (False, True),
    ]


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=60)), max_size=6))
def test_no_address_breaks_the_matrix(query: list[tuple[str, str]]) -> None:
    address = f"{MATRIX}?{urlencode(query, errors='surrogatepass')}"
    for headers in ({}, {"HX-Request": "true", "HX-Current-URL": address}):
        assert Client().get(address, headers=headers).status_code in (200, 404)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "platform": st.lists(st.sampled_from(PLATFORMS), max_size=2),
            "isolation": st.lists(st.sampled_from(["none", "isolated", "undisclosed"]), max_size=2),
            "tier": st.lists(st.sampled_from(["container", "microvm"]), max_size=2),
            "at_least": st.lists(st.sampled_from(["container", "microvm"]), max_size=2),
            "failure": st.lists(st.sampled_from(["unknown", "warns"]), max_size=2),
            "kind": st.lists(st.sampled_from(["cli", "ide"]), max_size=2),
            "sort": st.sampled_from(["", "tier", "name", "best"]),
            "rows": st.sampled_from(["", "surfaces"]),
            "q": st.sampled_from(["", "one", "zzz"]),
        },
    )
)
def test_any_combination_of_filters_is_answered_and_keeps_what_it_says(query: dict) -> None:
    if not Agent.objects.exists():
        for platform, rung in zip(PLATFORMS, ("container", "microvm") * 2, strict=True):
            posture = {"tier": rung, "on_failure": "warns", "platforms": (platform,)}
            make_audit(make_agent(f"one-{platform}"), postures=[posture])
        make_audit(make_agent("one"), kind="ide")
    response = Client().get(MATRIX, query)
    assert response.status_code == 200
    page = BeautifulSoup(response.content, "html.parser")
    assert number_found(page) == len(names(page))
    assert not page.select(".notice")


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_the_matrix_only_reads(client: Client, method: str) -> None:
    assert getattr(client, method)(MATRIX).status_code == 405


# ---- htmx ----


@pytest.mark.usefixtures("content")
def test_after_each_swap_the_page_equals_a_fresh_one(client: Client) -> None:
    reader = Reader(client, MATRIX)
    steps = [
        lambda: reader.tick("platform", "linux"),
        lambda: reader.tick("isolation", "none"),
        lambda: reader.choose_one("rows", "surfaces"),
        lambda: reader.tick("isolation", "none"),
        lambda: reader.tick("at_least", "container"),
        lambda: reader.type("q", "docker"),
        lambda: reader.choose("sort", "tier"),
        lambda: reader.tick("side", "own"),
        lambda: reader.choose_one("rows", ""),
        lambda: reader.tick("side", "own"),
        lambda: reader.tick("failure", "warns"),
        lambda: reader.tick("vendor", "Google"),
        lambda: reader.type("q", ""),
        lambda: reader.tick("vendor", "Google"),
    ]
    for number, step in enumerate(steps):
        step()
        assert reader.shown() == reader.fresh(), f"step {number}: {reader.address}"
    assert reader.address == "/audits/?platform=linux&failure=warns&at_least=container&sort=tier"


@pytest.mark.usefixtures("content")
def test_the_address_holds_what_is_in_force_and_nothing_else(client: Client) -> None:
    reader = Reader(client, MATRIX)
    reader.choose_one("rows", "surfaces")
    assert reader.address == "/audits/?rows=surfaces"
    reader.tick("isolation", "undisclosed")
    assert reader.address == "/audits/?isolation=undisclosed&rows=surfaces"
    reader.choose("sort", "tier")
    reader.choose_one("rows", "")
    assert reader.address == "/audits/?isolation=undisclosed&sort=tier"
    reader.tick("isolation", "undisclosed")
    reader.choose("sort", "")
    assert reader.address == "/audits/"
    assert len(reader.history) == 7


@pytest.mark.usefixtures("content")
def test_pages_of_surfaces_keep_what_is_in_force(client: Client) -> None:
    page = page_of(client, rows="surfaces", sort="tier")
    assert page.select_one("[rel=next]")["href"] == "?sort=tier&rows=surfaces&page=2"
    second = page_of(client, rows="surfaces", sort="tier", page=2)
    assert second.select_one("[rel=prev]")["href"] == "?sort=tier&rows=surfaces"


@pytest.mark.usefixtures("content")
def test_a_history_restore_gets_the_whole_page(client: Client) -> None:
    whole = client.get(MATRIX, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert shown(BeautifulSoup(whole.content, "html.parser")) == shown(page_of(client))


def test_a_partial_is_never_cached_as_a_page(client: Client) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        assert "HX-Request" in client.get(MATRIX, headers=headers)["Vary"]


# ---- cost ----


def test_the_matrix_costs_as_many_queries_for_few_agents_as_for_many(client: Client) -> None:
    asks = [
        partial(page_of, client, **query)
        for query in (
            {},
            {"rows": "surfaces"},
            {"q": "agent"},
            {"q": "zzzz", "tier": "container"},
            {"platform": "linux", "sort": "tier"},
            {"at_least": "container", "kind": "cli"},
        )
    ]

    def grow(start: int, end: int) -> None:
        for number in range(start, end):
            audit = make_audit(
                make_agent(f"agent-{number}"), postures=[{"platforms": ("linux", "macos"), "tier": "container"}]
            )
            make_posture(audit, "microvm", platforms=("linux",), is_default=False)
            make_audit(audit.agent, "ide", kind="ide", postures=[{"platforms": ("linux",)}])

        # Else Postgres plans for what the tests before have left it thinking: that there is nothing here.
        sql("ANALYZE audits_agent, audits_agentaudit, audits_posture, audits_postureplatform")

    grow(0, 3)
    few = numbers_of_queries(asks)
    grow(3, 25)
    assert numbers_of_queries(asks) == few
    assert max(few) <= MOST_QUERIES


@pytest.mark.usefixtures("content")
def test_the_matrix_with_every_agent_costs_no_more(client: Client) -> None:
    for query in ({}, {"rows": "surfaces"}, {"q": "docker", "platform": "linux"}):
        with CaptureQueriesContext(connection) as queries:
            page_of(client, **query)
        assert len(queries) <= MOST_QUERIES


# ---- from the other side ----


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("rung", ["container", "microvm", "userspace-kernel"])
def test_a_rungs_page_lists_who_stands_on_it_by_default_and_who_can_be_asked_to(client: Client, rung: str) -> None:
    page = BeautifulSoup(client.get(f"/ladder/{rung}/").content, "html.parser")
    section = page.select_one("section[aria-labelledby=agents]")
    modes = {True: Counter(), False: Counter()}
    by_default = True
    for element in section.select("h3, .uses > li"):
        if element.name == "h3":
            by_default = text(element) == "By default"
            continue
        for item in element.select("li"):
            modes[by_default][(text(element.a), text(item.a), text(item.code))] += 1
    postures = Posture.objects.filter(tier__slug=rung).select_related("audit__agent")
    for is_default in (True, False):
        expected = Counter(
            (posture.audit.agent.name, posture.audit.name, posture.mode)
            for posture in postures
            if posture.is_default is is_default
        )
        assert modes[is_default] == expected


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("slug", ["seatbelt", "docker-engine", "gvisor"])
def test_a_primitives_page_lists_the_agents_that_use_it_and_in_which_mode(client: Client, slug: str) -> None:
    page = BeautifulSoup(client.get(f"/primitives/{slug}/").content, "html.parser")
    found = Counter(
        (text(agent.a), text(item.a), text(item.code), text(item.small))
        for agent in page.select(".uses > li")
        for item in agent.select("li")
    )
    postures = Posture.objects.filter(primitives__slug=slug).select_related("audit__agent")
    expected: Counter[tuple[str, ...]] = Counter()
    for posture in postures:
        where = ", ".join(platform.name for platform in posture.platforms.order_by("position"))
        said = f"{where}, by default" if posture.is_default else where
        expected[(posture.audit.agent.name, posture.audit.name, posture.mode, said)] += 1
    assert found == expected != Counter()
