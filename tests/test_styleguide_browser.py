"""Every component in every state, checked with axe as people see it who need it darker, larger or in few colours."""

from typing import Any

import pytest

from tests.window import Opener, in_browser

pytestmark = in_browser

READERS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active"},
    "narrow": {"viewport": {"width": 320, "height": 900}},
    "1280 at 400 %": {"viewport": {"width": 320, "height": 256}, "device_scale_factor": 4},
    "Chinese": {"locale": "zh-TW"},
}


@pytest.mark.parametrize("options", READERS.values(), ids=READERS)
def test_the_guide_is_fit_for_everybody(opened: Opener, options: dict[str, Any]) -> None:
    window = opened(**options)
    window.page.goto(f"{window.base}/styleguide/")
    window.check()
