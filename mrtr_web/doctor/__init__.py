"""Looks at a deployment from its settings to its servers, and says of each place whether all is well, or what to do."""

from collections.abc import Callable, Iterable, Iterator

from mrtr_web.doctor import door, hints, machine, post, provider, upstream
from mrtr_web.doctor.finding import Finding, doubt, fault

Check = Callable[[], Finding | Iterable[Finding]]


def examine(url: str = "") -> Iterator[Finding]:
    """One finding after the other, as they come. `url`: scheme and host of the site, to look through its proxy, too."""
    yield from _run("settings", machine.sound_settings)
    yield from _database()
    yield from _run("disk", machine.disk)
    yield from _run("logo", machine.logo)
    yield from _run("static files", machine.statics)
    yield from _run("redis", hints.line)
    yield from _run("mail", post.office)
    yield from _run("egress proxy", upstream.proxy)
    if url:
        yield from _run("proxy", lambda: door.look(url))


def _database() -> Iterator[Finding]:
    """What needs it is looked at only where it is there, with its tables."""
    for name, check in (("database", machine.database), ("migrations", machine.tables)):
        found = list(_run(name, check))
        yield from found
        if any(each.level == "FAIL" for each in found):
            yield doubt("credentials, servers", f"not looked at without {name}")
            return
    yield from _run("clock", machine.clock)
    yield from _run("sign-in", provider.single_sign_on)
    yield from _run("credentials", upstream.kept)
    yield from _run("servers", upstream.servers)


def _run(name: str, check: Check) -> Iterator[Finding]:
    try:
        found = check()
        yield from [found] if isinstance(found, Finding) else found
    except Exception as error:  # the other places are still looked at; its text may hold a secret
        yield fault(name, f"looking at it went wrong ({type(error).__name__}). Look at the app's log")
