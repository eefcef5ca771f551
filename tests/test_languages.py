"""Two languages: nothing is left untranslated, every page follows the browser and the switch, numbers stay readable."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import polib
import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import get_format
from pytest_django import Settings

from mrtr_web.models import Flow, Server
from mrtr_web.readback import told
from mrtr_web.schema.spec import FieldSpec, Kind, Typed
from tests import texts
from tests.offers import store, tool
from tests.reviewers import admitted, flow_of, looking

CATALOGUE = texts.ROOT / "mrtr_web" / "locale" / "zh_Hant" / "LC_MESSAGES" / "django.po"
FORMED = re.compile(
    r"%\(\w+\)[sd]|%[sd%]|\{[a-z]+\}|</?\w[^>]*>|`[^`]+`|https?://(?:[\w/-]|[.:]\w)*|\bMRTR_[A-Z_]+", re.ASCII
)
"""What a translation may move, but neither change nor lose."""
CHINESE = "登入"
FORMATS = re.compile(r'\|(?:date|time):"([^"]+)"')


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Django's test client leaves the language of its last request behind in the thread."""
    with translation.override("en"):
        yield


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


def test_every_marked_text_is_in_the_catalogue_and_no_other(catalogue: polib.POFile) -> None:
    have = {texts.Text(entry.msgctxt, entry.msgid) for entry in catalogue}
    assert texts.marked() - have == set()
    assert have - texts.marked() == set()


def test_every_text_is_translated(catalogue: polib.POFile) -> None:
    assert [entry.msgid for entry in catalogue if not entry.translated() or entry.fuzzy or entry.obsolete] == []


def test_the_compiled_catalogue_is_the_written_one(catalogue: polib.POFile) -> None:
    compiled = {
        (e.msgctxt, e.msgid): e.msgstr or e.msgstr_plural for e in polib.mofile(str(CATALOGUE.with_suffix(".mo")))
    }
    assert compiled == {(e.msgctxt, e.msgid): e.msgstr or e.msgstr_plural for e in catalogue}


def test_translations_keep_placeholders_and_tags(catalogue: polib.POFile) -> None:
    for entry in catalogue:
        for given in [entry.msgstr, *entry.msgstr_plural.values()]:
            if given:
                assert sorted(FORMED.findall(given)) == sorted(FORMED.findall(entry.msgid_plural or entry.msgid)), given


def test_translations_are_written_as_in_taiwan(catalogue: polib.POFile) -> None:
    """One way to address people, full-width marks beside Chinese, and the words of the glossary."""
    foreign = re.compile("你|妳|服務器|用戶(?!端)|數據|文件夾|網絡|默認|信息|緩存|點擊|視頻|軟件|鏈接|賬")
    halves = re.compile(
        r"[\u3400-\u9fff][,;:?!()](?! )|[,;:?!()][\u3400-\u9fff]|[\u3400-\u9fff][A-Za-z0-9%]|[A-Za-z0-9][\u3400-\u9fff]"
    )
    for entry in catalogue:
        for given in [entry.msgstr, *entry.msgstr_plural.values()]:
            bare = re.sub(r"<[^>]+>|[0-9Ynj]+[年月日]|%\(since\)s", "", given)
            assert not foreign.search(bare) and not halves.search(bare), given


def test_templates_have_no_words_outside_translation_tags() -> None:
    read = {path.name: texts.unmarked_in_template(path.read_text()) for path in texts.template_files()}
    assert {name: found for name, found in read.items() if found} == {}


def test_words_of_others_are_marked_as_of_an_unknown_language() -> None:
    """Where a template takes care of the direction of a text, it does not know its language, either."""
    bare = re.compile(r"<(?:bdi\b|\w+ [^>]*dir=\"auto\")(?![^>]*lang=)[^>]*>")
    read = {path.name: [m.group() for m in bare.finditer(path.read_text())] for path in texts.template_files()}
    found = {name: [tag for tag in tags if "lang=" not in tag] for name, tags in read.items()}
    assert {name: tags for name, tags in found.items() if tags} == {}


def test_a_word_outside_a_translation_tag_is_found() -> None:
    source = '<p title="A hint">{% translate "In" %} out {{ x }}</p><b data-said="Copied"></b> data-say="Gone"'
    assert texts.unmarked_in_template(source) == ["title=A hint", "out", "data-said=Copied", "data-say=Gone"]


def test_python_hands_no_bare_words_to_people() -> None:
    ours = [path for path in texts.python_files() if not {"demo", "commands"} & set(path.parts)]
    assert {path.name: found for path in ours if (found := texts.unmarked_in_python(path.read_text()))} == {}
    assert {path.name: found for path in ours if (found := texts.odd_names(path.read_text()))} == {}
    assert {path.name: lines for path in ours if (lines := texts.said_at_import(path.read_text()))} == {}


def test_a_bare_word_in_python_is_found() -> None:
    source = (
        'forms.CharField(label="A name", help_text=_("Yes."))\nmessages.success(r, f"Well done {x}")\nlog.info("a b")'
    )
    assert texts.unmarked_in_python(source) == ["A name", "Well done "]
    assert texts.odd_names("from django.utils.translation import gettext_lazy as _lazy") == ["_lazy"]
    assert texts.said_at_import("from django.utils.translation import gettext as _\nx = _('a')\ndef f(): _('b')") == [2]


def test_scripts_take_their_words_from_the_page() -> None:
    said = re.compile(r"(?:textContent|innerText|title|ariaLabel|announce\()\s*=?\s*[\"'`][^\"'`$]*[A-Za-z]{2}")
    scripts = (site.BASE_DIR / "static" / "js").glob("*.js")
    assert [found.group() for path in scripts for found in said.finditer(path.read_text())] == []


def test_style_sheets_know_no_left_and_right() -> None:
    """So that a language from right to left needs no sheet of its own."""
    physical = re.compile(
        r"(?:margin|padding|border|inset)-(?:left|right)|(?<![-\w])(?:left|right)\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)"
    )
    sheets = (site.BASE_DIR / "static" / "css").glob("*.css")
    assert [found.group() for path in sheets for found in physical.finditer(path.read_text())] == []


@pytest.mark.parametrize("code", [code for code, _ in site.LANGUAGES])
def test_numbers_that_are_sent_look_the_same_in_every_language(code: str) -> None:
    """Templates write numbers into attributes and values: a comma in one of them would break it."""
    with translation.override(code):
        assert (get_format("DECIMAL_SEPARATOR"), site.USE_THOUSAND_SEPARATOR) == (".", False)


def test_dates_are_read_back_as_the_language_writes_them() -> None:
    spec = FieldSpec("day", Kind.DATE, "Day")
    assert told(spec, "2027-05-04", Typed("2027-05-04")) == (("4 May 2027",), "")
    with translation.override("zh-hant"):
        assert told(spec, "2027-05-04", Typed("2027-05-04")) == (("2027年5月4日",), "")


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        *(
            (each, "zh-hant")
            for each in ("zh-TW", "zh-Hant", "zh-HK", "zh-Hant-TW", "zh-MO", "zh", "fr;q=0.9, zh-TW;q=0.8")
        ),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-hant"),  # nearer than English to whoever asks for Chinese first
        *((each, "en") for each in ("en", "de", "", "en-GB, zh-TW;q=0.5", "x" * 600)),
    ],
)
@pytest.mark.django_db
def test_the_browser_chooses(wanted: str, code: str) -> None:
    response = Client().get("/accounts/login/", headers={"Accept-Language": wanted})
    text = response.content.decode()
    assert f'<html lang="{code}" dir="ltr"' in text and (f">{CHINESE}<" in text) == (code == "zh-hant")
    assert response["Content-Language"] == code and "Accept-Language" in response["Vary"]


def switch(client: Client, code: str, onward: str) -> str:
    """Press the switch; where it leads."""
    response = client.post("/i18n/setlang/", {"language": code, "next": onward})
    assert response.status_code == 302
    return str(response["Location"])


@pytest.mark.django_db
def test_the_switch_wins_over_the_browser_and_comes_back_to_the_page(alice: User) -> None:
    client = looking(alice)
    assert switch(client, "zh-hant", "/?q=book&tag=city") == "/?q=book&tag=city"
    cookie = client.cookies["mrtr_language"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 365 * 24 * 3600)
    page = client.get("/?q=book", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="zh-hant"' in page and 'name="next" value="/?q=book"' in page
    assert 'value="en" lang="en">English</button>' in page and 'value="zh-hant"' not in page
    client.post("/accounts/logout/")
    assert '<html lang="zh-hant"' in client.get("/accounts/login/").content.decode()


@pytest.mark.parametrize("onward", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
@pytest.mark.django_db
def test_the_switch_leads_nowhere_else(onward: str) -> None:
    assert switch(Client(), "zh-hant", onward) == "/"


@pytest.mark.django_db
def test_the_switch_is_a_post_of_our_own_page() -> None:
    assert Client().get("/i18n/setlang/?language=zh-hant").status_code == 405
    guarded = Client(enforce_csrf_checks=True)
    refused = guarded.post("/i18n/setlang/", {"language": "zh-hant", "next": "/"})
    assert refused.status_code == 403 and "mrtr_language" not in guarded.cookies
    assert switch(Client(), "xx", "/") == "/" and "xx" not in str(Client().cookies)


def test_the_cookie_of_the_language_is_for_https_alone_where_the_site_is() -> None:
    """The settings of the tests are for http: the names and flags come from the same switch as the session's."""
    assert (
        site.SECURE_COOKIES,
        f"{site.COOKIE_PREFIX}mrtr_language",
    ) == (site.LANGUAGE_COOKIE_SECURE, site.LANGUAGE_COOKIE_NAME)


@pytest.mark.django_db(transaction=True)
def test_the_switch_leaves_pages_alone_that_people_type_in(alice: User, server: Server) -> None:
    """What a request asks is typed in, too: tests/test_browser_answering.py."""
    store(server, tools=[tool("ask")])
    admitted(alice, server)
    client, flow = looking(alice), flow_of(alice, server)
    assert '" target="_blank">' in footer(client.get("/s/demo/tools/ask/?topic=a").content.decode())
    for path in (f"/flows/{flow.pk}/", "/", "/flows/", "/accounts/login/", "/no/such/page/"):
        page = footer(client.get(path).content.decode())
        assert "target=" not in page and f'name="next" value="{path}"' in page
    refused = footer(client.post(f"/flows/{flow.pk}/answer/", {"round": "9"}).content.decode())
    assert "target=" in refused and f'name="next" value="/flows/{flow.pk}/"' in refused


def footer(page: str) -> str:
    return page[page.index('<footer class="foot">') : page.index("</footer>")]


@pytest.mark.django_db
def test_staff_have_the_switch_in_the_administration() -> None:
    root = looking(User.objects.create_superuser("root"))
    assert "target=" not in footer(root.get("/admin/").content.decode())
    page = root.get("/admin/mrtr_web/server/add/", headers={"Accept-Language": "zh-TW"}).content.decode()
    assert '" target="_blank">' in footer(page) and '<html lang="zh-hant"' in page


@pytest.mark.django_db
def test_error_pages_are_in_the_language_of_their_reader(alice: User) -> None:
    taiwan = {"Accept-Language": "zh-TW"}
    assert "<h1>這裡沒有任何內容</h1>" in looking(alice).get("/no/such/page/", headers=taiwan).content.decode()
    refused = Client(enforce_csrf_checks=True).post("/flows/", headers=taiwan)
    assert "<h1>這次沒有送出</h1>" in refused.content.decode()


def test_a_page_without_a_database_is_in_the_language_of_its_reader(client: Client) -> None:
    """No fixture of the database: the first look at it fails, before any view is reached."""
    client.raise_request_exception = False
    client.cookies[site.SESSION_COOKIE_NAME] = "a" * 32
    response = client.get("/", headers={"Accept-Language": "zh-TW"})
    assert response.status_code in (500, 503)
    assert '<html lang="zh-hant" dir="ltr">' in response.content.decode()


@pytest.mark.django_db(transaction=True)
def test_times_are_written_as_the_language_writes_them(alice: User, server: Server, settings: Settings) -> None:
    admitted(alice, server)
    flow = flow_of(alice, server)
    Flow.objects.filter(pk=flow.pk).update(started_at=datetime(2027, 5, 4, 14, 30, tzinfo=UTC))
    with timezone.override("UTC"):
        page = looking(alice).get(reverse("flows"), headers={"Accept-Language": "zh-TW"}).content.decode()
        english = looking(alice).get(reverse("flows")).content.decode()
    assert "開始於 2027年5月4日 14:30 ·" in page
    assert "Started 4 May 2027, 14:30 ·" in english


def test_dates_are_written_in_one_style_alone() -> None:
    """Only the seconds of tables stand beside the formats of the language."""
    used = {each for path in (texts.ROOT / "templates").rglob("*.html") for each in FORMATS.findall(path.read_text())}
    assert used == {"DATE_FORMAT", "TIME_FORMAT", "DATETIME_FORMAT", "H:i:s"}
