"""Whether the sign-in provider can be asked, is the one that is named, and finds the groups that it is to fill."""

from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import Group

from mrtr_web.doctor.finding import Finding, doubt, fault, well


def single_sign_on() -> Iterator[Finding]:
    """Nothing where it is off."""
    if not settings.CONFIG.oidc_issuer:
        return
    yield _provider(settings.CONFIG.oidc_issuer)
    named = {group for _, group in settings.CONFIG.groups_by_value}
    lost = named - set(Group.objects.filter(name__in=named).values_list("name", flat=True))
    if lost:
        words = f"MRTR_OIDC_GROUPS names groups that nobody has made: {', '.join(sorted(lost))}. Make them at /admin/"
        yield doubt("sign-in", words)


def _provider(issuer: str) -> Finding:
    import requests

    from mrtr_web.sso import provider

    try:
        provider.metadata()
    except provider.Odd as odd:
        hint = "MRTR_OIDC_ISSUER must be what stands under “issuer” at its /.well-known/openid-configuration"
        return fault("sign-in", f"{issuer} says what is not believed ({odd}). {hint}")
    except requests.RequestException as error:
        says = "cannot be reached" if error.response is None else f"answers with {error.response.status_code}"
        return fault("sign-in", f"{issuer} {says}. Look at MRTR_OIDC_ISSUER, and at the way there")
    return well("sign-in", f"{issuer} answers")
