"""How to cite a claim."""

from dataclasses import dataclass

from evidence.models import Claim

SITE = "sandboxicon"
LICENCE = "CC BY 4.0"

_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


@dataclass(frozen=True)
class Citation:
    """A claim as it is worded now, to be quoted; `url` is its permanent address with the site's host."""

    claim: Claim
    url: str

    @property
    def sentence(self) -> str:
        return self.claim.sentence.replace("`", "").strip()

    @property
    def text(self) -> str:
        """One paragraph for a footnote."""
        claim = self.claim
        at = f", {claim.version}" if claim.version else ""
        day = f"{claim.as_of.day} {claim.as_of:%B %Y}"
        return f"“{self.sentence}” {SITE}, {claim.address}, {claim.label}, as of {day}{at}. {self.url} ({LICENCE})"

    @property
    def bibtex(self) -> str:
        """An entry for a bibliography in LaTeX. Sentences keep their capitals, so each value has two braces."""
        claim = self.claim
        note = f"{claim.label}, as of {claim.as_of}" + (f", {claim.version}" if claim.version else "")
        fields = {
            "title": f"{{{self.sentence.translate(_LATEX)}}}",
            "author": f"{{{SITE}}}",
            "year": str(claim.as_of.year),
            "month": str(claim.as_of.month),
            "note": f"{note.translate(_LATEX)}; {LICENCE}",
            "url": self.url,
        }
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@misc{{{SITE}:{claim.address},\n{lines}\n}}"
