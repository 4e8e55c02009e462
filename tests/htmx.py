"""A reader with htmx, without a browser: fills in a form, swaps what comes back as htmx would, holds the page.

The rule that it is for: after any swap the page equals a fresh one at the address that the swap gave.
"""

from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

from bs4 import BeautifulSoup, Tag
from django.http import HttpResponse
from django.test import Client


def read(response: HttpResponse) -> BeautifulSoup:
    """An answer as htmx reads it: `data-hx-get`, which HTML allows and our pages write, is `hx-get` to it."""
    page = BeautifulSoup(response.content, "html.parser")
    for element in page.find_all(True):
        element.attrs = {
            name.removeprefix("data-") if name.startswith("data-hx-") else name: value
            for name, value in element.attrs.items()
        }
    return page


class Reader:
    """A page in a browser with htmx."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self.history = [address]
        response = client.get(address)
        assert response.status_code == 200
        self.page = read(response)

    def type(self, name: str, text: str) -> None:
        """Type into a field of the form, and wait for the swap."""
        self._one(f"form[hx-get] input[name={name}]")["value"] = text
        self._submit()

    def tick(self, name: str, value: str) -> None:
        """Tick a box, or untick it, and wait for the swap."""
        box = self._one(f'input[name={name}][value="{value}"]')
        if box.has_attr("checked"):
            del box["checked"]
        else:
            box["checked"] = ""
        self._submit()

    def press(self, selector: str) -> str:
        """Where a button that leads elsewhere takes the reader: the address that the browser asks for."""
        return f"{self._one(selector)['formaction']}?{urlencode(self._fields())}"

    def choose_one(self, name: str, value: str) -> None:
        """Choose one of several round boxes, and wait for the swap."""
        for box in self.page.select(f"input[type=radio][name={name}]"):
            box.attrs.pop("checked", None)
            if box["value"] == value:
                box["checked"] = ""
        self._submit()

    def choose(self, name: str, value: str) -> None:
        """Choose in a select, and wait for the swap."""
        for option in self._one(f"select[name={name}]").select("option"):
            if option["value"] == value:
                option["selected"] = ""
            elif option.has_attr("selected"):
                del option["selected"]
        self._submit()

    def follow(self, selector: str) -> None:
        """Follow a link that htmx handles, and wait for the swap."""
        link = self._one(selector)
        self._swap(link["hx-get"], link)

    def shown(self) -> tuple[str, str]:
        """Title and body, in one form whatever the order of attributes or the spaces between."""
        return shown(self.page)

    def fresh(self) -> tuple[str, str]:
        """The same of a fresh page at the present address."""
        response = self.client.get(self.address)
        assert response.status_code == 200
        return shown(read(response))

    def _one(self, selector: str) -> Tag:
        (found,) = self.page.select(selector)
        return found

    def _submit(self) -> None:
        form = self._one("form[hx-get]")
        self._swap(f"{form['hx-get']}?{urlencode(self._fields())}", form)

    def _fields(self) -> list[tuple[str, str]]:
        """What the form would send, as a browser does: ticked boxes alone."""
        form = self._one("form[hx-get]")
        boxes = "[type=checkbox], [type=radio]"
        fields = [(field["name"], field.get("value", "")) for field in form.select(f"input[name]:not({boxes})")]
        fields += [(box["name"], box["value"]) for box in form.select(f"input:is({boxes})[checked]")]
        fields += [
            (select["name"], option["value"])
            for select in form.select("select[name]")
            for option in (select.select("option[selected]") or select.select("option"))[:1]
        ]
        return fields

    def _swap(self, address: str, element: Tag) -> None:
        response = self.client.get(
            urlsplit(self.address)
            ._replace(path=urlsplit(address).path or "/primitives/", query=urlsplit(address).query)
            .geturl(),
            headers={
                "HX-Request": "true",
                "HX-Current-URL": f"http://testserver{self.address}",
                **({"HX-Trigger": str(element["id"])} if element.has_attr("id") else {}),
            },
        )
        assert response.status_code == 200, response.content
        target = (
            response.headers.get("HX-Retarget")
            or element.get("hx-target")
            or element.find_parent(attrs={"hx-target": True})["hx-target"]
        )
        self._apply(response, str(target))
        if pushed := response.headers.get("HX-Push-Url"):
            self.history.append(pushed)
            self.address = pushed
        elif replaced := response.headers.get("HX-Replace-Url"):
            self.history[-1] = self.address = replaced

    def _apply(self, response: HttpResponse, target: str) -> None:
        part = read(response)
        if part.title:
            self.page.title.string = part.title.extract().get_text()
        for element in part.select("[hx-swap-oob]"):
            how = element.attrs.pop("hx-swap-oob")
            (old,) = self.page.select(f"#{element['id']}")
            element.extract()
            if how == "true":
                old.replace_with(element)
            else:
                assert how == "innerHTML"
                old.clear()
                old.extend(list(element.contents))
        (main,) = part.find_all(True, recursive=False)
        (old,) = self.page.select(target)
        old.replace_with(main)


def shown(page: BeautifulSoup) -> tuple[str, str]:
    """Title and body of a page in one form."""
    return " ".join(page.title.get_text().split()), "\n".join(_lines(page.body, 0))


def _lines(element: Tag, depth: int) -> Iterator[str]:
    """A line an element, and one a text, each with its depth."""
    yield f"{depth} <{element.name} {sorted(element.attrs.items())}>"
    for child in element.contents:
        if isinstance(child, Tag):
            yield from _lines(child, depth + 1)
        elif words := child.split():
            yield f"{depth + 1} {' '.join(words)}"
