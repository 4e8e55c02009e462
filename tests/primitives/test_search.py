"""Search on the real content: what people really type finds what they mean, first."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from evidence.models import Claim
from primitives.filters import PrimitiveFilterSet
from primitives.models import Break, Primitive
from tests.factories import make_break, make_claim, make_primitive
from tests.sql import insert, sql

pytestmark = pytest.mark.django_db


def found(text: str) -> list[str]:
    """The slugs that a search finds, best first."""
    return [primitive.slug for primitive in Primitive.objects.search(text).best_first().only("slug")]


COMMANDS = {
    "bwrap": "bubblewrap",
    "srt": "sandbox-runtime",
    "runsc": "gvisor",
    "sbx": "docker-sandboxes",
    "sandbox-exec": "seatbelt",
    "limactl": "lima",
    "unshare": "namespaces",
    "nsenter": "namespaces",
    "ip netns": "network-namespaces",
    "systemd-run": "systemd-sandboxing",
    "machinectl": "systemd-nspawn",
    "virsh": "libvirt",
    "dockerd": "docker-engine",
    "docker build": "buildkit",
    "minijail0": "minijail",
    "ulimit": "rlimits",
    "setcap": "capabilities",
    "--no-sandbox": "chromium-sandbox",
    "/dev/kvm": "kvm",
    "pledge(2)": "pledge",
    "@anthropic-ai/sandbox-runtime": "sandbox-runtime",
}
ABBREVIATIONS = {
    "userns": "user-namespaces",
    "netns": "network-namespaces",
    "lxd": "incus",
    "tdx": "intel-tdx",
    "sev": "amd-sev-snp",
    "k8s": "kubernetes-pods",
    "wsl": "wsl2",
    "uml": "user-mode-linux",
    "hvf": "hypervisor-framework",
    "whpx": "windows-hypervisor-platform",
    "nnp": "no-new-privs",
    "CoCo": "confidential-containers",
    "VT-x": "cpu-virtualization",
    "wasm": "wasmtime",
}
NAMES = {
    "docker": "docker-engine",
    "Docker Desktop": "docker-desktop",
    "docker sandbox": "docker-sandboxes",
    "kubernetes": "kubernetes-pods",
    "KVM": "kvm",
    "namespace": "namespaces",
    "cgroups": "cgroups-v2",
    "seccomp": "seccomp",
    "jail": "freebsd-jails",
    "zones": "illumos-zones",
    "devcontainer": "dev-containers",
    "singularity": "apptainer",
    "cloudflare workers": "v8-isolates",
    "windows sandbox": "windows-sandbox",
    "fly.io": "fly-machines",
    "the docker engine": "docker-engine",
}
WORDS_JOINED_OR_SPLIT = {
    "fire cracker": "firecracker",
    "g visor": "gvisor",
    "bubble wrap": "bubblewrap",
    "micro sandbox": "microsandbox",
    "usernamespaces": "user-namespaces",
    "user namespace": "user-namespaces",
    "virtual box": "virtualbox",
    "app armor": "apparmor",
    "se linux": "selinux",
    "hyperv": "hyper-v",
    "hyper v": "hyper-v",
    "container d": "containerd",
    "crio": "cri-o",
    "orb stack": "orbstack",
    "nonewprivs": "no-new-privs",
    "no new privs": "no-new-privs",
    "isolatedvm": "isolated-vm",
    "cap sys admin": "capabilities",
    "overlay fs": "overlayfs",
    "micro vm": "qemu-microvm",
}
BREAKS = {
    "CVE-2019-5736": "runc",
    "cve 2019 5736": "runc",
    "cve20195736": "runc",
    "CVE-2015-3456": "qemu",
    "cve-2015-3456": "qemu",
    "CVE_2015_3456": "qemu",
    "XSA-212": "xen",
    "xsa212": "xen",
    "Leaky Vessels": "runc",
    "leakyvessels": "runc",
    "VENOM": "qemu",
    "Copy Fail": "seccomp",
    "copyfail": "seccomp",
    "copy-fail": "seccomp",
    "Dirty Pipe": "sysbox",
    "dirtypipe": "sysbox",
    "CrackArmor": "apparmor",
    "cr8escape": "cri-o",
    "BadRAM": "amd-sev-snp",
    "cache warp": "amd-sev-snp",
    "L1TF": "cpu-virtualization",
    "powerdir": "tcc",
}
SPELLINGS = {
    "virtualization framework": "virtualization-framework",
    "virtualisation framework": "virtualization-framework",
    "hardware virtualization": "cpu-virtualization",
    "hardware virtualisation": "cpu-virtualization",
    "DOCKER": "docker-engine",
    "gVISOR": "gvisor",
    "  firecracker  ": "firecracker",
    "fire\tcracker\n": "firecracker",
}
TYPOS = {
    "dokcer": "docker-engine",
    "doker": "docker-engine",
    "firecraker": "firecracker",
    "fircracker": "firecracker",
    "bubblwrap": "bubblewrap",
    "bubblewarp": "bubblewrap",
    "landlok": "landlock",
    "nsjial": "nsjail",
    "capabilties": "capabilities",
    "kubernets": "kubernetes-pods",
    "kuberentes": "kubernetes-pods",
    "seccmp": "seccomp",
    "secomp": "seccomp",
    "appamor": "apparmor",
    "gvsior": "gvisor",
    "gvizor": "gvisor",
    "podmna": "podman",
    "qmeu": "qemu",
    "vagarnt": "vagrant",
    "contianerd": "containerd",
    "flatpack": "flatpak",
    "virtualbx": "virtualbox",
    "user namespces": "user-namespaces",
    "kata contaners": "kata-containers",
}
PHRASES = {
    "setting up uid map: Permission denied": "bubblewrap",
    "toolkit without a policy": "bubblewrap",
    "floppy controller": "qemu",
    "full disk access": "tcc",
}
EVERYTHING = COMMANDS | ABBREVIATIONS | NAMES | WORDS_JOINED_OR_SPLIT | BREAKS | SPELLINGS | TYPOS | PHRASES


@pytest.mark.parametrize(("text", "slug"), EVERYTHING.items(), ids=list(EVERYTHING))
def test_what_people_type_finds_what_they_mean_first(content: None, text: str, slug: str) -> None:
    assert found(text)[:1] == [slug]


def test_every_entry_is_found_first_by_its_own_name(content: None) -> None:
    entries = list(Primitive.objects.values_list("slug", "name"))
    assert [name for slug, name in entries if found(name)[:1] != [slug]] == []


def test_an_alias_finds_its_entry_before_those_without_it(content: None) -> None:
    wrong = []
    aliases = sorted({alias for aliases in Primitive.objects.values_list("aliases", flat=True) for alias in aliases})
    for alias in aliases[::3]:
        key = "".join(filter(str.isalnum, alias.lower())).replace("isation", "ization")
        first = Primitive.objects.filter(slug__in=found(alias)[:1]).values_list("search_keys", flat=True)
        if not first or not {key, f"{key}s", key.rstrip("s")} & set(first[0]):
            wrong.append(alias)
    assert wrong == []


def test_every_break_is_found_by_its_number_in_any_spelling(content: None) -> None:
    for number, (identifier, slug) in enumerate(Break.objects.values_list("identifier", "primitive__slug")):
        spellings = (identifier, identifier.lower(), identifier.replace("-", " "), identifier.replace("-", ""))
        assert slug in found(spellings[number % 4]), spellings[number % 4]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "?!", "→", "*", "&&&", "''", "-- ;", "\u200b", "%", "_", "\\"])
def test_symbols_alone_find_nothing(content: None, text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ["zzzzqqqq", "日本語", "🦊", "xyzzy plugh", "Straußenfeder", "zx" * 50, "0" * 100])
def test_what_is_nowhere_finds_nothing(content: None, text: str) -> None:
    assert found(text) == []


HOSTILE = [
    "a & | ! ( ) : * <-> '",
    "docker:*",
    "!docker",
    "docker & !engine",
    "(docker",
    "docker)",
    "'docker",
    "docker'",
]
HOSTILE += [
    '"docker engine"',
    "docker <-> engine",
    "docker\\",
    "docker; DROP TABLE primitives_primitive",
    "%docker%",
    "$1",
]
HOSTILE += ["%s", "docker:ABCD", "docker\u0301", "{docker}", "[docker]", "E'\\x00'", "docker" * 20]
HOSTILE += ["a" * 10_000, "a " * 5_000, "é" * 300]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:40])
def test_no_text_breaks_the_search(content: None, text: str) -> None:
    slugs = found(text)
    assert len(slugs) == len(set(slugs))
    if "docker" in text and len(text) < 20 and "\u0301" not in text:
        assert "docker-engine" in slugs


def test_more_words_find_less(content: None) -> None:
    assert len(found("linux")) > 50
    assert 0 < len(found("linux kernel namespaces seccomp")) < len(found("linux"))


# ---- as it is written ----


class TestAtOnce:
    """The columns that are searched follow each write by themselves."""

    def test_a_new_entry(self) -> None:
        make_primitive("thylacine", name="Thylacine Box", aliases=["thyl"], summary="It quarantines marsupials.")
        for text in ("thylacine", "thylacinebox", "thyl", "marsupial"):
            assert found(text) == ["thylacine"]

    def test_entries_made_in_bulk(self) -> None:
        template = make_primitive()
        Primitive.objects.bulk_create(
            [
                Primitive(
                    slug=slug,
                    name=slug,
                    summary="A box.",
                    tier=template.tier,
                    category=template.category,
                    is_published=True,
                )
                for slug in ("thylacine", "quokka")
            ]
        )
        assert found("thylacine") == ["thylacine"]
        assert found("quokka") == ["quokka"]

    def test_a_name_changed_by_save_by_update_and_in_raw_sql(self) -> None:
        primitive = make_primitive("box", name="Thylacine")
        primitive.name = "Quokka"
        primitive.save()
        assert (found("thylacine"), found("quokka")) == ([], ["box"])
        Primitive.objects.update(name="Numbat")
        assert (found("quokka"), found("numbat")) == ([], ["box"])
        sql("UPDATE primitives_primitive SET name = 'Bilby', aliases = ARRAY['Potoroo']")
        assert (found("numbat"), found("bilby"), found("potoroo")) == ([], ["box"], ["box"])

    def test_a_claim_written_changed_and_deleted(self) -> None:
        claim = make_claim(make_primitive("box"), sentence="It holds a thylacine.")
        assert found("thylacine") == ["box"]
        claim.sentence = "It holds a quokka."
        claim.save()
        assert (found("thylacine"), found("quokka")) == ([], ["box"])
        Claim.objects.update(sentence="It holds a numbat.")
        assert (found("quokka"), found("numbat")) == ([], ["box"])
        sql("UPDATE evidence_claim SET sentence = 'It holds a bilby.'")
        assert (found("numbat"), found("bilby")) == ([], ["box"])
        claim.delete()
        assert found("bilby") == []

    def test_claims_written_and_deleted_in_bulk(self) -> None:
        one, two = make_primitive("one"), make_primitive("two")
        common = {
            "aspect": "usage",
            "label": "inferred",
            "reasoning": "So.",
            "as_of": "2026-08-21",
            "is_published": True,
        }
        Claim.objects.bulk_create(
            [
                Claim(primitive=one, slug="a", sentence="It holds a thylacine.", **common),
                Claim(primitive=two, slug="a", sentence="It holds a quokka.", **common),
            ]
        )
        assert (found("thylacine"), found("quokka")) == (["one"], ["two"])
        Claim.objects.all().delete()
        assert (found("thylacine"), found("quokka")) == ([], [])

    def test_a_claim_moved_to_another_entry(self) -> None:
        one, two = make_primitive("one"), make_primitive("two")
        make_claim(one, sentence="It holds a thylacine.")
        Claim.objects.update(primitive=two)
        assert found("thylacine") == ["two"]

    def test_a_break_written_changed_and_deleted(self) -> None:
        item = make_break(make_primitive("box"), "CVE-2031-1234", nickname="Leaky Thylacine")
        for text in ("CVE-2031-1234", "cve20311234", "leaky thylacine", "leakythylacine"):
            assert found(text) == ["box"]
        Break.objects.update(nickname="Dirty Quokka")
        assert (found("leaky thylacine"), found("dirtyquokka")) == ([], ["box"])
        sql("UPDATE primitives_break SET identifier = 'GHSA-zzzz-yyyy-xxxx'")
        assert (found("cve20311234"), found("ghsa zzzz yyyy xxxx")) == ([], ["box"])
        item.delete()
        assert found("dirtyquokka") == []

    def test_a_break_in_raw_sql(self) -> None:
        primitive = make_primitive("box")
        insert(
            "primitives_break",
            primitive_id=primitive.pk,
            identifier="CVE-2031-1234",
            nickname="",
            year=2031,
            summary="A thylacine got out.",
            fixed_in="",
            url="https://nvd.nist.gov/",
        )
        assert found("thylacine") == found("cve-2031-1234") == ["box"]
        sql("DELETE FROM primitives_break")
        assert found("thylacine") == found("cve-2031-1234") == []

    def test_deleting_an_entry_with_claims_and_breaks(self) -> None:
        primitive = make_primitive("thylacine")
        make_claim(primitive)
        make_break(primitive)
        primitive.delete()
        assert found("thylacine") == []


def test_the_number_of_a_break_leads_to_the_part_that_the_others_build_on() -> None:
    runc = make_primitive("runc")
    containerd = make_primitive("containerd", builds_on=(runc,))
    for primitive in (containerd, make_primitive("aardvark", builds_on=(runc,)), runc):
        make_break(primitive, "CVE-2019-5736")
    assert found("CVE-2019-5736")[0] == "runc"


def test_a_name_comes_before_the_beginning_of_a_name_and_that_before_a_mention() -> None:
    make_claim(make_primitive("aardvark"), sentence="It is no quokka, nor a quokka, nor quokka.")
    make_primitive("quokka-tools")
    make_primitive("quokka")
    assert found("quokka") == ["quokka", "quokka-tools", "aardvark"]


def test_misspelt_names_are_offered_only_where_nothing_is_spelt_so() -> None:
    make_primitive("quokka")
    make_claim(make_primitive("box"), sentence="It holds a quokca.")
    assert found("quokca") == ["box"]
    assert found("quoka") == ["quokka"]


def test_of_more_than_are_ranked_the_one_whose_name_it_is_comes_first_all_the_same(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrimitiveFilterSet, "MOST_RANKED", 3)
    for number in range(6):
        make_primitive(slug=f"a{number}", name=f"A {number}", summary="Not a walnut.")
    make_primitive(slug="walnut", name="Walnut")
    page = BeautifulSoup(client.get("/primitives/?q=walnut").content, "html.parser")
    assert page.select_one("#count").get_text().strip() == "More than 3 entries for “walnut”"
    assert page.select_one(".entry h3").get_text() == "Walnut"
    assert len(page.select(".entry")) == 3


def test_of_more_whose_names_begin_so_than_are_looked_at_it_is_always_the_first_by_name(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrimitiveFilterSet, "MOST_RANKED", 2)
    monkeypatch.setattr("primitives.querysets.MOST_NAMED", 2)
    for number in range(3):
        make_primitive(slug=f"a{number}", name=f"A {number}", summary="Not a walnut.")
    for name in ("Walnut D", "Walnut B", "Walnut A", "Walnut C"):
        make_primitive(slug=name.lower().replace(" ", "-"), name=name)
    sql("UPDATE primitives_primitive SET summary = summary || ' ' WHERE slug = 'walnut-a'")  # now the last of the table
    page = BeautifulSoup(client.get("/primitives/?q=walnut").content, "html.parser")
    assert [entry.get_text() for entry in page.select(".entry h3")] == ["Walnut A", "Walnut B"]
