"""Every component in every state, checked with axe as people see it who need it darker, larger or in few colours."""

from typing import Any

import pytest

from tests.window import Opener, Watched, in_browser

pytestmark = in_browser

COLOURS: list[dict[str, Any]] = [{}, {"color_scheme": "dark"}, {"color_scheme": "light", "forced_colors": "active"}]
OTHERS: dict[str, dict[str, Any]] = {
    "1280 at 400 %": {"viewport": {"width": 320, "height": 256}, "device_scale_factor": 4},
    "Chinese": {"locale": "zh-TW"},
}


def guide(opened: Opener, **options: Any) -> Watched:
    window = opened(**options)
    window.page.goto(f"{window.base}/styleguide/")
    return window


def test_the_guide_can_be_read_in_any_colours_and_on_a_narrow_screen(opened: Opener) -> None:
    window = guide(opened)
    for colours in COLOURS:
        window.page.emulate_media(**colours)
        window.check()
    window.page.emulate_media(forced_colors="none")
    window.page.set_viewport_size({"width": 320, "height": 900})
    window.check()


@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS)
def test_the_guide_can_be_read_enlarged_and_in_chinese(opened: Opener, options: dict[str, Any]) -> None:
    guide(opened, **options).check()
