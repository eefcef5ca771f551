"""Behind nginx in a browser: a form, a live page over wss, and a process that is lost."""

from playwright.sync_api import Browser, expect

from tests.certificates import certificate as certificate
from tests.processes import Process
from tests.proxy import NAME, Front, needs_nginx
from tests.proxy import front as front
from tests.proxy import processes as processes
from tests.servers import BOUND, Recorder
from tests.window import Watched, in_browser

pytestmark = [*in_browser, needs_nginx]


def test_pages_are_live_and_a_lost_process_is_not_noticed(
    browser: Browser, front: Front, processes: list[Process], demo: Recorder
) -> None:
    context = browser.new_context(ignore_https_errors=True)  # nobody vouches for the certificate
    window, sockets = Watched(context, front.base, True), list[str]()
    page = window.page
    page.on("websocket", lambda socket: socket.on("framereceived", lambda _: sockets.append(socket.url)))
    window.sign_in()
    page.goto(f"{front.base}/s/demo/tools/slow_report/")
    page.get_by_label("Seconds").fill("3")
    page.get_by_role("button", name="Start").click()
    window.state("completed")
    assert sockets and all(url.startswith(f"wss://{NAME}:") for url in sockets)
    processes[0].handle.kill()
    processes[0].handle.wait(BOUND)
    for _ in range(6):
        page.goto(f"{front.base}/flows/")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    window.check()
    context.close()
