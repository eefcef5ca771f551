"""What a first page costs a person on a slow line: its bytes, and whether it moves under their eyes."""

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page

from mrtr_web.models import Server
from tests.desk import desk, done, required
from tests.servers import Recorder
from tests.test_browser import TWO_STEPS, two_steps
from tests.window import Opener, Watched, in_browser

pytestmark = in_browser
MOST = 60_000
MOST_SCRIPTS = 12_000
SHIFTS = """
window.shifts = { total: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.total += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


class Weighed:
    """What came over the line, with headers, by address."""

    def __init__(self, session: CDPSession) -> None:
        self.answers: dict[str, Any] = {}
        self.bytes: dict[str, int] = {}
        session.on("Network.responseReceived", lambda e: self.answers.update({e["requestId"]: e["response"]}))
        session.on("Network.loadingFinished", lambda e: self.bytes.update({e["requestId"]: e["encodedDataLength"]}))
        session.send("Network.enable")
        session.send("Network.clearBrowserCache")

    @property
    def total(self) -> int:
        return sum(self.bytes.values())

    @property
    def scripts(self) -> int:
        """Their content alone, as it was sent."""
        found = [a for a in self.answers.values() if a["url"].endswith(".js")]
        assert {a["headers"]["content-encoding"] for a in found} == {"gzip"}
        return sum(int(a["headers"]["content-length"]) for a in found)


def first_round_of_the_booking(window: Watched) -> Page:
    window.sign_in()
    page = window.page
    page.goto(f"{window.base}/s/demo/tools/book_trip/")
    page.get_by_label("Destination").fill("Lyon")
    page.get_by_label("Nights").fill("3")
    page.get_by_label("Day of departure").fill("2027-05-04")
    page.get_by_role("button", name="Start").click()
    window.state("waiting")
    return page


def test_a_first_page_is_light(opened: Opener, demo: Recorder) -> None:
    """The largest page of the demo, twelve fields and all zones of time, with nothing in the cache."""
    page = first_round_of_the_booking(opened())
    page.wait_for_load_state("networkidle")  # what still comes is not of the page that is weighed
    weighed = Weighed(page.context.new_cdp_session(page))
    page.reload(wait_until="networkidle")
    print(f"{weighed.total} bytes, {weighed.scripts} of scripts without headers, {len(weighed.bytes)} answers")
    assert len(weighed.bytes) > 15
    assert weighed.total < MOST and weighed.scripts < MOST_SCRIPTS


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_while_a_page_comes(opened: Opener, server: Server, width: int) -> None:
    """Also where scripts fold the steps, and put the next page in place."""
    window = opened(viewport={"width": width, "height": 800})
    window.page.add_init_script(SHIFTS)
    with desk(server, required(TWO_STEPS, "s"), done()):
        page = two_steps(window, server)
        assert shifted(page) == 0
        page.reload(wait_until="networkidle")
        assert shifted(page) == 0
        page.get_by_label("Name").fill("Ada")
        page.get_by_role("button", name="Next").click()
        page.get_by_label("Date and time").fill("2026-01-02T03:04")
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("heading", name="Check your answers").wait_for()
        assert shifted(page) == 0
        page.get_by_role("button", name="Send to Demo desk").click()
        window.state("completed")
        assert shifted(page) == 0


def shifted(page: Page) -> float:
    """What moved of its own since the page was opened, after two more frames."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.evaluate("window.shifts.total"))
