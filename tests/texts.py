"""What people read, found in the sources: texts that are marked for translation, and words that are not.

It does what makemessages does, without the programs of gettext, which are not everywhere.
"""

import ast
import html.parser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.template.base import Lexer, TokenType
from django.utils.translation.template import templatize

ROOT = Path(__file__).parent.parent
ONE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
COUNTED = {"ngettext", "ngettext_lazy"}
IN_CONTEXT = {"pgettext", "pgettext_lazy"}
_STRING = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf"\b({'|'.join(ONE | COUNTED | IN_CONTEXT)})\(\s*({_STRING})(?:\s*,\s*({_STRING}))?")
_NO_WORDS = {"blocktranslate", "blocktrans", "comment"}
_OF_A_TAG = re.compile("_(attrs|class)$")
"""Names of blocks that stand within a tag."""
_READ = {"alt", "title", "aria-label", "placeholder", "aria-description"}
"""Attributes that people read or hear."""
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHOWN = {
    "label",
    "help_text",
    "verbose_name",
    "verbose_name_plural",
    "description",
    "short_description",
    "empty_label",
}
_CALLED = {"ValidationError", "success", "error", "warning", "info", "add_message", "message_user", "add_error"}


class Text(NamedTuple):
    context: str | None
    one: str


def python_files() -> Iterator[Path]:
    return (path for path in sorted((ROOT / "mrtr_web").rglob("*.py")) if "migrations" not in path.parts)


def template_files() -> Iterator[Path]:
    return iter(sorted(path for path in (ROOT / "templates").rglob("*.*") if path.suffix in (".html", ".txt")))


def marked() -> set[Text]:
    """Every text that is marked for translation."""
    found = set[Text]()
    for path in python_files():
        found |= {text for node in ast.walk(ast.parse(path.read_text())) if (text := _of_call(node))}
    for path in template_files():
        for name, *strings in _CALL.findall(templatize(path.read_text())):
            found.add(_text(name, [ast.literal_eval(each) for each in strings if each]))
    return found


def _of_call(node: ast.AST) -> Text | None:
    if not isinstance(node, ast.Call) or _name(node.func) not in ONE | COUNTED | IN_CONTEXT:
        return None
    strings = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return _text(_name(node.func), strings) if strings else None


def _text(name: str, strings: list[str]) -> Text:
    return Text(strings[0], strings[1]) if name in IN_CONTEXT else Text(None, strings[0])


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


class _Words(html.parser.HTMLParser):
    """Words of a template that no tag translates."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"{name}={value}" for name, value in attrs if value and _is_read(name, value)]

    def handle_data(self, data: str) -> None:
        for name, value in _ATTRIBUTE.findall(data):  # a template that is a part of a tag
            self.handle_starttag("", [(name, value)])
        words = _ATTRIBUTE.sub("", data)
        if _LETTERS.search(words):
            self.found.append(words.strip())


def _is_read(name: str, value: str) -> bool:
    """Scripts take their words from data attributes: codes in these have no capitals."""
    return bool(_LETTERS.search(value) if name in _READ else name.startswith("data-") and re.match(r"\s*[A-Z]", value))


def unmarked_in_template(source: str) -> list[str]:
    """Words in text and in attributes outside translation tags; what a variable holds does not count."""
    reader, inside = _Words(), ""
    pieces = list[str]()
    for token in Lexer(source).tokenize():
        name = token.contents.split(" ")[0] if token.token_type is TokenType.BLOCK else ""
        if inside:
            inside = "" if name == f"end{inside}" else inside
        elif name in _NO_WORDS or name == "block" and _OF_A_TAG.search(token.contents):
            inside = name
        else:
            pieces.append(token.contents if token.token_type is TokenType.TEXT else " ")
    reader.feed("".join(pieces))
    reader.close()
    return reader.found


def unmarked_in_python(source: str) -> list[str]:
    """Literals with words in them, handed to what shows them to people."""
    found = list[ast.expr]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            found += [word.value for word in node.keywords if word.arg in _SHOWN]
            found += node.args if _name(node.func) in _CALLED and not _is_log(node.func) else []
        elif isinstance(node, ast.Assign) and any(_name(target) in _SHOWN for target in node.targets):
            found.append(node.value)
    return [text for node in found for text in _literals(node)]


def _is_log(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and _name(func.value) in ("log", "logger")


def _literals(node: ast.expr) -> Iterator[str]:
    """Also of f-strings and of sums; not of codes such as "invalid", which have no blank in them."""
    if isinstance(node, ast.Call):
        return
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            return
        if (
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and re.search(r"\w \w|^[A-Z][a-z]", each.value)
        ):
            yield each.value


def odd_names(source: str) -> list[str]:
    """Names that gettext's functions were imported under and that makemessages does not know."""
    return [
        name.asname
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for name in node.names
        if name.asname not in (None, "_") and name.name in ONE | COUNTED | IN_CONTEXT
    ]


def said_at_import(source: str) -> list[int]:
    """Lines on which a text is translated while the module is read: in the language of nobody."""
    found, names = list[int](), dict[str, str]()

    def look(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom) and child.module == "django.utils.translation":
                names.update({each.asname or each.name: each.name for each in child.names})
            if isinstance(child, ast.Call) and names.get(_name(child.func)) in ("gettext", "ngettext", "pgettext"):
                found.append(child.lineno)
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                look(child)

    look(ast.parse(source))
    return found
