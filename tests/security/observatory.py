"""The score that Mozilla's HTTP Observatory gives a site, computed from answers of ours.

The rules are those of github.com/mdn/mdn-http-observatory at 94042bbfbf9f1af722ad9114ada6d271dcb525b9: what each test
looks at in src/analyzer/tests/, what it is worth in src/grader/charts.js, how it adds up in src/scanner/index.js. They
begin at 100, and extra credit counts only where the deductions leave at least 90. Left out is what a site without a
name cannot have: a certificate, which is taken as valid, and a place in the browsers' list of preloaded hosts, worth 5
more. A case that the rules know and this file does not, and any bad one, counts as the worst of its test.
"""

from dataclasses import dataclass
from http.cookies import SimpleCookie

from bs4 import BeautifulSoup

BROAD = {"ftp:", "http:", "https:", "*", "http://*", "http://*.*", "https://*", "https://*.*"}
PRIVATE_REFERRERS = {"no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"}
SIX_MONTHS = 15_552_000


@dataclass(frozen=True)
class Answer:
    """The answer over TLS, and where the same address without TLS leads."""

    headers: list[tuple[str, str]]
    body: str
    http_leads_to: str

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    def one(self, name: str) -> str:
        """The value of a header that is there once; "" for any other number."""
        found = self.all(name)
        return found[0].strip().lower() if len(found) == 1 else ""


def modifiers(answer: Answer) -> dict[str, int]:
    """What each test of the Observatory adds to 100, or takes from it."""
    policy = directives(answer)
    return {
        "content-security-policy": _policy(policy),
        "cookies": _cookies(answer),
        "cross-origin-resource-sharing": 0 if not answer.one("access-control-allow-credentials") else -50,
        "redirection": 0 if answer.http_leads_to.startswith("https://") else -20,
        "referrer-policy": 5 if answer.one("referrer-policy") in PRIVATE_REFERRERS else -5,
        "strict-transport-security": _hsts(answer),
        "subresource-integrity": _scripts(answer),
        "x-content-type-options": 0 if answer.one("x-content-type-options") == "nosniff" else -5,
        "x-frame-options": 5 if "frame-ancestors" in policy else -20,
        "cross-origin-resource-policy": 10 if answer.one("cross-origin-resource-policy") == "same-origin" else -5,
        "cross-origin-embedder-policy": 10 if answer.one("cross-origin-embedder-policy") == "require-corp" else -5,
        "cross-origin-opener-policy": 10 if answer.one("cross-origin-opener-policy") == "same-origin" else -5,
    }


def score(answer: Answer) -> int:
    """The whole score."""
    parts = modifiers(answer).values()
    without_credit = 100 + sum(part for part in parts if part < 0)
    return without_credit if without_credit < 90 else 100 + sum(parts)


def directives(answer: Answer) -> dict[str, set[str]]:
    """The one Content-Security-Policy, by directive."""
    parts = (part.split() for part in answer.one("content-security-policy").split(";"))
    return {part[0]: set(part[1:]) for part in parts if part}


def _policy(policy: dict[str, set[str]]) -> int:
    default = policy.get("default-src", {"*"})
    script, style, objects = (policy.get(name, default) for name in ("script-src", "style-src", "object-src"))
    unsafe = BROAD | {"'unsafe-inline'", "data:"}
    insecure = any(source.startswith(("http:", "ftp:")) for sources in policy.values() for source in sources)
    if not policy:
        return -25
    if script & unsafe or objects & BROAD or insecure:
        return -20
    if "'unsafe-eval'" in script | style:
        return -10
    if style & unsafe:
        return 0
    return 10 if default == {"'none'"} else 5


def _cookies(answer: Answer) -> int:
    cookies = [morsel for line in answer.all("set-cookie") for morsel in SimpleCookie(line).values()]
    if not cookies:
        return 0
    for cookie in cookies:
        name = cookie.key.lower()
        if not cookie["secure"] or (("sess" in name or "login" in name) and not cookie["httponly"]):
            return -40
        if "csrf" in name and not cookie["samesite"]:
            return -20
    return 5 if all(cookie["samesite"].lower() in ("lax", "strict") for cookie in cookies) else 0


def _hsts(answer: Answer) -> int:
    parts = [part.strip() for part in answer.one("strict-transport-security").split(";")]
    ages = [int(part.removeprefix("max-age=")) for part in parts if part.startswith("max-age=")]
    return 0 if ages and ages[0] >= SIX_MONTHS else -20


def _scripts(answer: Answer) -> int:
    """Scripts of our own need no integrity attribute; those of others are none of ours to have."""
    sources = [str(script.get("src", "")) for script in BeautifulSoup(answer.body, "html.parser").select("script")]
    return 0 if all(source.startswith("/") and not source.startswith("//") for source in sources if source) else -50
