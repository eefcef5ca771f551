"""PURE. What browsers are told with every answer: what a page may do, who may have it, that nothing keeps it."""

from collections.abc import Mapping
from types import MappingProxyType

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
)
PAGE_POLICY = "; ".join((*_POLICY, "require-trusted-types-for 'script'", "trusted-types 'none'"))
ADMIN_POLICY = "; ".join(_POLICY)
"""Django's own admin, for staff alone: its scripts (jQuery, SelectFilter2) put strings of HTML into the page."""
CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""Images, sounds and files of servers."""

USED_FEATURES = ("clipboard-write", "unload")
"""By the buttons that copy a text, and by scripts of Django's admin."""
UNUSED_FEATURES = (
    *("accelerometer", "aria-notify", "autoplay", "browsing-topics", "camera", "captured-surface-control"),
    *("clipboard-read", "compute-pressure", "cross-origin-isolated", "deferred-fetch", "deferred-fetch-minimal"),
    *("digital-credentials-create", "digital-credentials-get", "display-capture", "encrypted-media", "fullscreen"),
    *("gamepad", "geolocation", "gyroscope", "hid", "identity-credentials-get", "idle-detection", "interest-cohort"),
    *("keyboard-map", "language-detector", "language-model", "local-fonts", "local-network", "local-network-access"),
    *("loopback-network", "magnetometer", "media-playback-while-not-visible", "microphone", "midi"),
    *("on-device-speech-recognition", "otp-credentials", "payment", "picture-in-picture"),
    *("private-state-token-issuance", "private-state-token-redemption", "publickey-credentials-create"),
    *("publickey-credentials-get", "screen-wake-lock", "serial", "speaker-selection", "storage-access"),
    *("summarizer", "sync-xhr", "translator", "usb", "window-management", "xr-spatial-tracking"),
)
"""All others that chromium knows, but its client hints, which are sent to a site only when that asks for them."""

STATIC_CACHE = "max-age=300"
"""The app's own scripts, styles and icons: the same for everybody."""
EVERYWHERE: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": PAGE_POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(
            [*(f"{name}=()" for name in UNUSED_FEATURES), *(f"{name}=(self)" for name in USED_FEATURES)]
        ),
        "Referrer-Policy": "same-origin",  # no-referrer would make browsers send "Origin: null", which CSRF refuses
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }
)
"""Of every answer, unless it says otherwise itself."""
