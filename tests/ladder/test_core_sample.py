"""Core samples: what they say, where the kernel line is in them, and that each thing of the content has its own."""

import re

import pytest
from bs4 import BeautifulSoup
from django.template.loader import render_to_string
from django.test import Client

from audits.models import Posture
from ladder.core_sample import CoreSample, Kind, Named, Side, in_lists, of_posture, of_primitive, of_rung
from ladder.models import Tier
from primitives.models import Primitive
from tests.factories import make_audit, make_posture, make_primitive, make_tier

RUNGS = range(1, 7)
KVM, FIRECRACKER = Named("KVM (Kernel-based Virtual Machine)", "hypervisor"), Named("Firecracker", "vmm")


def kinds(sample: CoreSample) -> list[Kind]:
    return [layer.kind for layer in sample.layers]


def line_is_in_its_place(sample: CoreSample) -> None:
    """In words and at both sizes: all that is above the line is drawn above it, all that is below it, below."""
    sides = [layer.side for layer in sample.layers]
    above = [layer.kind for layer in sample.layers if layer.side == Side.ABOVE]
    assert sides == [Side.ABOVE] * len(above) + [Side.BELOW] * (len(sides) - len(above))
    assert sample.has_own_kernel == bool(above)
    if above:
        assert above[-1] == Kind.OWN_KERNEL
        assert sample.layers[len(above)].kind == Kind.MONITOR
        assert re.search(r"on (a kernel of its own|.+, its own kernel); below the kernel line", sample.alternative)
    else:
        assert Kind.KERNEL in kinds(sample)
        assert "the kernel line" not in sample.alternative.replace("All of it is below the kernel line", "")
    for drawing in (sample.small, sample.large):
        assert drawing.line is not None
        for shape in drawing.shapes:
            # Half a pixel is the line's own.
            if shape.kind in above or (above and shape.kind == "box"):
                assert shape.y >= 0
                assert shape.y + shape.height < drawing.line
            else:
                assert drawing.line < shape.y
                assert shape.y + shape.height <= drawing.height


def words_are_within(sample: CoreSample) -> None:
    for word in sample.large.words:
        assert 0 < word.y < sample.large.height
        assert len(word.text) < 55


def test_each_rung_is_drawn_in_its_own_way_at_both_sizes() -> None:
    samples = [of_rung(rank, "") for rank in RUNGS]
    for sample in samples:
        line_is_in_its_place(sample)
    assert [sample.has_own_kernel for sample in samples] == [False] * 4 + [True] * 2
    everything = in_lists()
    assert [sample.key for sample in everything] == ["1", "2", "3", "4", "5", "6", "none", "undisclosed"]
    assert len({repr(sample.small) for sample in everything}) == 8
    assert all(not word.text.isalpha() for sample in everything for word in sample.small.words)


@pytest.mark.parametrize(
    ("sample", "sentence"),
    [
        (
            of_primitive(4, Named("gVisor", "userspace-kernel"), apart=["files", "network"], not_apart=["resources"]),
            "gVisor: agent and tools on gVisor, a kernel in user space, on the host’s kernel, on the hardware. All of"
            " it is below the kernel line: the host’s kernel is shared. Keeps apart files and network; not resources.",
        ),
        (
            of_primitive(5, FIRECRACKER, [KVM], apart=["kernel"]),
            "Firecracker: agent and tools on a kernel of its own; below the kernel line Firecracker, on KVM in the"
            " host’s kernel, on the hardware. The box brings its own kernel. Keeps apart kernel.",
        ),
        (
            of_primitive(5, Named("Kata", "container-runtime"), [KVM, FIRECRACKER]),
            "Kata: agent and tools on a kernel of its own; below the kernel line Kata, with Firecracker, on KVM in the"
            " host’s kernel, on the hardware. The box brings its own kernel. Keeps nothing apart by itself.",
        ),
        (
            of_primitive(6, Named("Xen", "hypervisor"), [Named("VT-x", "hardware-feature")], apart=["kernel"]),
            "Xen: agent and tools with a whole operating system, on a kernel of its own; below the kernel line a"
            " monitor that emulates a whole computer, on Xen, then the host’s kernel, on hardware with VT-x. The"
            " box brings its own kernel. Keeps apart kernel.",
        ),
        (
            of_primitive(1, Named("IOMMU", "hardware-feature"), apart=["devices"]),
            "IOMMU: agent and tools, directly on the host’s kernel, on hardware with IOMMU. All of it is below the"
            " kernel line: the host’s kernel is shared. Keeps apart devices.",
        ),
        (
            of_primitive(3, Named("Docker Desktop", "container-platform"), apart=["kernel"], in_one_machine=True),
            "Docker Desktop: agent and tools with a separate file system, in Docker Desktop, on the kernel of one"
            " virtual machine, on the hardware. All of it is below the kernel line: that machine’s kernel is shared."
            " Keeps apart kernel.",
        ),
        (
            of_posture("Codex CLI, default", "Codex", "isolated", 2, [Named("Bubblewrap", "x"), Named("seccomp", "y")]),
            "Codex CLI, default: what Codex runs, in Bubblewrap and seccomp, on the host’s kernel, on the hardware."
            " All of it is below the kernel line: the host’s kernel is shared.",
        ),
        (
            of_posture("Aider, default", "Aider", "none"),
            "Aider, default: what Aider runs, directly on the host’s kernel, on the hardware. Nothing holds it: it has"
            " the user’s own rights.",
        ),
        (
            of_posture("Jules, default", "Jules", "undisclosed"),
            "Jules, default: what Jules runs in something that the vendor does not disclose. Where the kernel boundary"
            " is, nobody outside can tell.",
        ),
    ],
    ids=lambda value: value.split(":")[0] if isinstance(value, str) else "",
)
def test_the_text_alternative_reads_as_the_stack_does(sample: CoreSample, sentence: str) -> None:
    assert sample.alternative == sentence
    page = BeautifulSoup(render_to_string("ladder/_large_core_sample.html", {"sample": sample}), "html.parser")
    assert page.svg["role"] == "img"
    assert page.svg["aria-label"] == sentence
    drawn = " ".join(text.get_text() for text in page.select("text"))
    for layer in sample.layers:
        assert layer.label in drawn
    assert not page.select("[style]")


@pytest.mark.django_db
def test_what_is_undisclosed_has_the_drawing_of_no_rung(client: Client) -> None:
    make_tier("microvm")
    posture = make_posture(make_audit("silent", postures=[]), isolation="undisclosed")
    sample = posture.core_sample
    assert kinds(sample) == [Kind.APP, Kind.UNKNOWN]
    assert sample.small.line is sample.large.line is None
    assert {layer.side for layer in sample.layers} == {Side.UNKNOWN}
    page = BeautifulSoup(client.get("/audits/silent/").content, "html.parser")
    (large,) = page.select(".core-sample.large")
    assert [rect["class"][-1] for rect in large.select("rect")] == ["layer-app", "layer-unknown"]
    assert not large.select(".layer-line")
    assert {use["href"] for use in page.select("main use")} == {"#sample-undisclosed"}


@pytest.mark.django_db
def test_every_page_that_refers_to_a_drawing_has_it_and_says_it_in_words_too(client: Client) -> None:
    posture = make_posture(make_audit("agent", postures=[]), "container", primitives=(make_primitive("box"),))
    make_posture(make_audit("other", postures=[]))
    make_primitive("vm", tier=make_tier("microvm"))
    addresses = ["/", "/ladder/", "/ladder/container/", "/primitives/", "/primitives/compare/?p=box&p=vm", "/audits/"]
    addresses += ["/audits/agent/", "/audits/compare/?a=agent&a=other", "/search/?q=box"]
    for address in addresses:
        page = BeautifulSoup(client.get(address).content, "html.parser")
        there = {f"#{symbol['id']}" for symbol in page.select("symbol")}
        referred = page.select("svg.core-sample > use")
        assert referred, address
        assert {use["href"] for use in referred} <= there, address
        assert all(use.parent["aria-hidden"] == "true" and use.parent.parent.get_text(strip=True) for use in referred)
    assert posture.core_sample.alternative.startswith("agent cli, default: what agent runs with a separate file")


@pytest.mark.django_db
@pytest.mark.usefixtures("content")
def test_everything_in_the_content_has_a_drawing_with_its_name_and_the_line_in_its_place() -> None:
    for tier in Tier.objects.all():
        line_is_in_its_place(of_rung(tier.rank, tier.name))
    primitives = Primitive.objects.select_related("tier", "category").prefetch_related(
        "builds_on__tier", "builds_on__category"
    )
    for primitive in primitives:
        sample = primitive.core_sample(primitive.builds_on.all())
        line_is_in_its_place(sample)
        words_are_within(sample)
        assert sample.has_own_kernel == primitive.tier.has_own_kernel
        assert sample.alternative.startswith(f"{primitive.name}: ")
        (itself,) = [layer for layer in sample.layers if layer.note]
        assert primitive.name.split(" (")[0] in itself.label
        parts = [part.name.split(" (")[0] for part in primitive.builds_on.all() if part.category.slug == "hypervisor"]
        if primitive.tier.has_own_kernel and len(parts) == 1:
            assert parts[0] in next(layer.label for layer in sample.layers if layer.kind == Kind.HYPERVISOR)
    assert len(primitives) == 175
    postures = Posture.objects.select_related("audit__agent", "tier").prefetch_related("primitives__category")
    for posture in postures:
        sample = posture.core_sample
        words_are_within(sample)
        assert sample.layers[0].label == f"what {posture.audit.agent.name} runs"
        if posture.isolation == "undisclosed":
            assert sample.key == "undisclosed"
            assert kinds(sample) == [Kind.APP, Kind.UNKNOWN]
            continue
        line_is_in_its_place(sample)
        assert sample.key == (str(posture.tier.rank) if posture.tier else "none")
        for primitive in posture.primitives.all()[:1]:
            assert primitive.name.split(" (")[0] in sample.alternative
    assert {posture.isolation for posture in postures} == {"isolated", "none", "undisclosed"}
