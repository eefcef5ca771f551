"""A person without scripts: cookies, links, forms filled by label, posted as a browser would."""

import html.parser
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urljoin

import httpx2

BOUND = 20.0
VOID = {"input", "br", "hr", "img", "meta", "link"}


@dataclass
class Control:
    """An input of a form; for radios and checkboxes one per choice."""

    name: str
    value: str
    kind: str
    on: bool
    label: str = ""
    group: str = ""


@dataclass
class Form:
    action: str
    method: str
    controls: list[Control] = field(default_factory=list)
    buttons: list[Control] = field(default_factory=list)
    actions: dict[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, list[str]]:
        """What a browser would send if nothing more were pressed."""
        found: dict[str, list[str]] = {}
        for control in self.controls:
            if control.name and (control.on or control.kind not in ("radio", "checkbox", "option")):
                found.setdefault(control.name, []).append(control.value)
        return found


class _Reader(html.parser.HTMLParser):
    """Collects forms, labels, legends, the visible text, and the state that <main> carries."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.text: list[str] = []
        self.state = ""
        self.links: list[tuple[str, str]] = []
        self._labels: dict[str, str] = {}
        self._ids: list[tuple[str, Control]] = []
        self._legends: list[str] = []
        self._inside: list[str] = []
        self._label_for = ""
        self._wrapping = False
        self._wrapped: Control | None = None
        self._link = ""
        self._select: tuple[str, str] = ("", "")
        self._button: Control | None = None
        self._area: Control | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self._inside.append(tag)
        if tag == "main":
            self.state = at.get("data-flow-state", "")
        elif tag == "form":
            self.forms.append(Form(at.get("action", ""), at.get("method", "get").lower()))
        elif tag == "fieldset":
            self._legends.append("")
        elif tag == "label":
            self._label_for = at.get("for", "")
            self._wrapping = not self._label_for
            self._labels.setdefault(self._label_for, "")
        elif tag == "a":
            self._link = at.get("href", "")
            self.links.append((self._link, ""))
        elif self.forms:
            self._control(tag, at)

    def _control(self, tag: str, at: dict[str, str]) -> None:
        form, name = self.forms[-1], at.get("name", "")
        if tag == "input":
            kind = at.get("type", "text")
            default = "on" if kind in ("radio", "checkbox") else ""
            self._add(form, Control(name, at.get("value", default), kind, "checked" in at), at)
        elif tag == "textarea":
            self._area = Control(name, "", "textarea", True)
            self._add(form, self._area, at)
        elif tag == "select":
            self._select = (name, at.get("id", ""))
        elif tag == "option":
            self._add(
                form,
                Control(self._select[0], at.get("value", ""), "option", "selected" in at),
                {"id": self._select[1]},
            )
            self._button = form.controls[-1]
        elif tag == "button" and at.get("type", "submit") == "submit":
            self._button = Control(name, at.get("value", ""), "button", False)
            form.buttons.append(self._button)
            form.actions[str(len(form.buttons) - 1)] = at.get("formaction", "")

    def _add(self, form: Form, control: Control, at: dict[str, str]) -> None:
        control.group = _squeeze(" ".join(self._legends))
        form.controls.append(control)
        self._wrapped = control if self._wrapping else None
        self._ids.append((at.get("id", ""), control))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass
        match tag:
            case "fieldset":
                self._legends.pop()
            case "button" | "option":
                self._button = None
            case "label":
                self._label_for, self._wrapping, self._wrapped = "", False, None
            case "textarea":
                self._end_area()
            case "a":
                self._link = ""

    def _end_area(self) -> None:
        if self._area is not None:
            self._area.value = self._area.value.removeprefix("\n")
        self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area.value += data
            return
        self.text.append(data)
        if self._label_for:
            self._labels[self._label_for] += data
        if self._wrapped is not None:
            self._wrapped.label += data
        if self._button is not None:
            self._button.label += data
        if "legend" in self._inside and self._legends:
            self._legends[-1] += data
        if self._link:
            self.links[-1] = (self._link, self.links[-1][1] + data)

    def finish(self) -> None:
        for ident, control in self._ids:
            if control.kind != "option":
                control.label = _squeeze(self._labels.get(ident, "") or control.label)
            else:
                control.group, control.label = _squeeze(self._labels.get(ident, "")), _squeeze(control.label)


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@dataclass
class Page:
    """A page as it came, with its forms."""

    response: httpx2.Response
    reader: _Reader

    @classmethod
    def read(cls, response: httpx2.Response) -> Self:
        reader = _Reader()
        if "html" in response.headers.get("content-type", ""):
            reader.feed(response.text)
            reader.finish()
        return cls(response, reader)

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def path(self) -> str:
        return self.response.url.path

    @property
    def state(self) -> str:
        return self.reader.state

    @property
    def text(self) -> str:
        return _squeeze("".join(self.reader.text))

    def button(self, label: str) -> tuple[Form, Control, str]:
        for form in self.reader.forms:
            for number, button in enumerate(form.buttons):
                if _squeeze(button.label).lower().startswith(label.lower()):
                    return form, button, form.actions[str(number)] or form.action
        raise AssertionError(f"no button {label!r} on {self.path}: {self.text[:2000]}")

    def link(self, label: str) -> str:
        for href, text in self.reader.links:
            if label.lower() in _squeeze(text).lower():
                return href
        raise AssertionError(f"no link {label!r} on {self.path}")


class Person:
    """One browser of one person. Keeps the page that it is on."""

    def __init__(self, base: str, verify: ssl.SSLContext | bool = True) -> None:
        self.base = base
        self.client = httpx2.Client(base_url=base, verify=verify, follow_redirects=True, timeout=BOUND, trust_env=False)
        self.page: Page

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str) -> Page:
        self.page = Page.read(self.client.get(path))
        return self.page

    def sign_in(self, name: str) -> Page:
        self.get("/accounts/login/")
        return self.press("Sign in", {"username": name, "password": f"{name}'s password"})

    def fill(self, label: str, value: str | list[str]) -> None:
        """Type into the control with this label, choose one of its choices, or tick some of them."""
        labelled = [c for c in self._controls() if c.kind != "hidden" and label in (c.group or c.label)]
        choices = [c for c in labelled if c.kind in ("radio", "option", "checkbox")]
        wanted = [value] if isinstance(value, str) else value
        if choices:
            assert set(wanted) <= {c.label for c in choices}, f"{label}: no choice {wanted}"
            for control in choices:
                control.on = control.label in wanted
            return
        typed = [c for c in self._controls() if label in c.label and c.kind not in ("radio", "option", "hidden")]
        assert typed, f"no control {label!r} on {self.page.path}"
        typed[0].value = wanted[0]

    def _controls(self) -> list[Control]:
        return [control for form in self.page.reader.forms for control in form.controls]

    def press(self, label: str, values: dict[str, str] | None = None) -> Page:
        """Press a button: its form goes out as a browser would send it, `values` by input name on top."""
        form, button, action = self.page.button(label)
        data = _with_select_defaults(form) | {name: [value] for name, value in (values or {}).items()}
        if button.name:
            data[button.name] = [button.value]
        return self.post(urljoin(str(self.page.response.url), action), data)

    def post(self, path: str, data: dict[str, list[str]]) -> Page:
        wire = {name: [re.sub(r"\r?\n", "\r\n", each) for each in values] for name, values in data.items()}
        self.page = Page.read(self.client.post(path, data=wire, headers={"Origin": self.base}))
        return self.page

    def until(self, *states: str) -> Page:
        """Reload the current flow until it is in one of these states."""
        return self._reload(lambda page: page.state in states, states)

    def until_told(self, words: str) -> Page:
        """Reload the current page until it says this."""
        return self._reload(lambda page: words in page.text, words)

    def _reload(self, happened: Callable[[Page], bool], wanted: object) -> Page:
        end = time.monotonic() + BOUND
        while not happened(self.page):
            assert time.monotonic() < end, f"still {self.page.state!r}, not {wanted}: {self.page.text[:1000]}"
            time.sleep(0.05)
            self.get(self.page.path)
        return self.page


def _with_select_defaults(form: Form) -> dict[str, list[str]]:
    """The form's data; an untouched select sends its first option."""
    data = form.data()
    for control in form.controls:
        if control.kind == "option" and control.name not in data:
            data[control.name] = [control.value]
    return data
