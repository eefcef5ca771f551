"""Colours that stand on each other can be told apart, in light and in dark: computed from the tokens by WCAG 2.2."""

import re

import pytest

from tests.texts import ROOT

TOKENS = (ROOT / "static" / "css" / "tokens.css").read_text()
GROUNDS = ("paper", "surface")
SOFT = (*GROUNDS, "accent-soft", "danger-soft", "warn-soft")
TEXTS = {
    "ink": (*SOFT, "server"),
    "ink-soft": GROUNDS,
    "accent": GROUNDS,
    "accent-strong": (*GROUNDS, "accent-soft"),
    "on-accent": ("accent", "accent-strong"),
    "server-ink": ("server",),
    "server-soft": ("server",),
    "danger": (*GROUNDS, "danger-soft"),
    "warn": (*GROUNDS, "warn-soft"),
    "on-tile": tuple(f"tile-{number}" for number in range(6)),
}
LINES = {"line-strong": GROUNDS, "accent": GROUNDS, "focus": (*SOFT, "server"), "server-line": (*GROUNDS, "server")}
"""Borders of controls, the outline of what has the focus, and what is drawn."""


def colours(scheme: str) -> dict[str, str]:
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in TOKENS.split("@media")[:2])
    return light | dark if scheme == "dark" else light


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_ratios_are_those_of_the_guidelines() -> None:
    assert round(ratio("#000", "#ffffff"), 2) == 21
    assert round(ratio("#777777", "#fff"), 2) == 4.48


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (LINES, 3)])
def test_colours_can_be_told_from_what_they_stand_on(
    scheme: str, pairs: dict[str, tuple[str, ...]], least: float
) -> None:
    """WCAG 1.4.3 and 1.4.11"""
    found = colours(scheme)
    faint = {
        (colour, ground): round(ratio(found[colour], found[ground]), 2)
        for colour, grounds in pairs.items()
        for ground in grounds
        if ratio(found[colour], found[ground]) < least
    }
    assert faint == {}
