"""What curators write is Markdown, and comes out as harmless HTML, whatever it was."""

import re

import pytest
from bs4 import BeautifulSoup
from django.db import IntegrityError, transaction
from django.template import engines
from django.test import Client

from evidence.models import Label, Source
from sandboxicon.templatetags.text import markdown, sentence
from tests.factories import make_claim, make_primitive, make_source

# Ways to script that have worked somewhere: in HTML, in Markdown, in what one makes of the other.
CORPUS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example></sCrIpT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    '<img src="x` `<script>alert(1)</script>"` `>',
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css'</style>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<form action=//evil.example><button>x</button></form>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<a href='jav&#x09;ascript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href=//evil.example>x</a>",
    "<a href=http://evil.example>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](http://evil.example)",
    "[x](//evil.example)",
    "[x](/\\evil.example)",
    "[x](file:///etc/passwd)",
    '[x](https://a.example "\\"><img src=x onerror=alert(1)>")',
    '[x](https://a.example/"onmouseover=alert(1)//)',
    "![x](https://evil.example/pixel.png)",
    '![x" onerror=alert(1)](y)',
    '<https://a.example/"onmouseover=alert(1)>',
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "[a][b]\n\n[b]: <javascript:alert(1)>",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '``` " onload=alert(1)\nx\n```',
    "<!-- --!><script>alert(1)</script> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo '<script>' ?>",
    "\\<script>alert(1)\\</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u003cscript\u003ealert(1)\u003c/script\u003e",
    "<\x00script>alert(1)</script>",
    "<template><script>alert(1)</script></template>",
    "<x hx-get='/admin/' hx-trigger=load>",
    "<b data-hx-on:load='alert(1)'>x</b>",
    "{{ 7|add:7 }}{% debug %}",
]
TAGS = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "a", "h3", "h4", "blockquote", "br", "hr"}


@pytest.mark.parametrize("written", CORPUS)
def test_nothing_in_the_corpus_comes_out_alive(written: str) -> None:
    for html, tags in ((markdown(written), TAGS), (sentence(written), {"code"})):
        for tag in BeautifulSoup(html, "html.parser").find_all():
            assert tag.name in tags, html
            assert set(tag.attrs) <= ({"href", "rel", "title"} if tag.name == "a" else set()), html
            if tag.name == "a" and tag.get("href"):
                assert re.match(r"https://[a-z]|/[^/\\]", str(tag["href"])), html
                assert {"noopener", "noreferrer"} <= set(tag["rel"]), html
    assert "14" not in engines["django"].from_string("{{ it }}").render({"it": markdown("{{ 7|add:7 }}")})


@pytest.mark.django_db(transaction=True)
def test_a_sources_address_is_https_and_shown_with_its_host(client: Client) -> None:
    with transaction.atomic():
        claim = make_claim(make_primitive(slug="runc"), Label.DOCUMENTED)
        Source.objects.filter(claim=claim).delete()
        source = make_source(claim)
    for bad in ("javascript:alert(1)", "http://a.example/", "//a.example/", " https://a.example", "data:text/html,x"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Source.objects.filter(pk=source.pk).update(url=bad)
    Source.objects.filter(pk=source.pk).update(url='https://a.example/"><script>', title="<b>A page</b>")
    page = BeautifulSoup(client.get("/primitives/runc/").content, "html.parser")
    [link] = page.select("a[href^='https://a.example']")
    assert (link["rel"], link.get_text()) == (["external", "noopener"], "<b>A page</b>")
    assert link.find_next("span", class_="host").get_text() == "a.example"
    for outside in page.select("main a[href^='http']"):
        assert outside["href"].startswith("https://")
        assert "noopener" in outside["rel"]
