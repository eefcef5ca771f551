"""The credential on a server's form: what kind, from where, and a secret that goes in and never comes out."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from mrtr_web import credentials, headerlines, keyring, registry
from mrtr_web.access import PER_PERSON
from mrtr_web.admin import clientform
from mrtr_web.admin.fields import SecretLines
from mrtr_web.models import CREDENTIAL_KINDS, CREDENTIAL_SOURCES, Server

OF_ALL = ("kind", "source", "reference", "token", "header_lines")
FIELDS = (*OF_ALL, *clientform.FIELDS)
OF_SUPERUSERS = ("source", "reference")
_PLACES: dict[str, tuple[str, ...]] = {
    "bearer": ("token",),
    "headers": ("header_lines",),
    "oauth": clientform.FIELDS,
    "each": (),
}
"""Where a credential of each kind is typed in."""


class CredentialForm(clientform.ClientForm):
    """given() is what is to be stored: None keeps what is there."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        help_text=_(
            "With a token of each person's own, nothing more is filled in here. Another kind drops what is set."
        ),
        choices=CREDENTIAL_KINDS,
        required=False,
    )
    source = forms.ChoiceField(label=_("Where it is"), choices=CREDENTIAL_SOURCES, required=False)
    reference = forms.CharField(
        label=_("Name of the variable or file"),
        help_text=_("An environment variable of this app, or a file in the directory of MRTR_CREDENTIAL_DIR."),
        max_length=200,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        required=False,
    )
    token = forms.CharField(
        label=_("Token"),
        help_text=_("A bearer token, sent as Authorization: Bearer … Leave it empty to keep the one that is set."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        required=False,
    )
    header_lines = forms.CharField(
        label=_("Headers"),
        help_text=_("One a line, such as X-Api-Key: abc. Leave it empty to keep those that are set."),
        widget=SecretLines(attrs={"rows": 3, "class": "vLargeTextField", "autocomplete": "off", "spellcheck": "false"}),
        required=False,
        strip=False,
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        server = self.instance
        for name, value in (
            ("kind", server.credential_kind),
            ("source", server.credential_source),
            ("reference", server.credential_ref),
        ):
            if name in self.fields:
                self.fields[name].initial = value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self._given: registry.Credential | None = None
        kind = cleaned.get("kind") or "none"
        self._clean_strays(kind, cleaned)
        if kind != "none":
            self._clean_credential(kind, cleaned)
        return cleaned

    def _clean_strays(self, kind: str, cleaned: dict[str, Any]) -> None:
        """A secret typed in where it is not of the kind that is chosen would be lost."""
        why = _("Leave this empty: it does not belong to the kind that is chosen.")
        if kind == "each":
            why = _("Leave this empty: each person gives a token of their own.")
        for of, place in (("bearer", "token"), ("headers", "header_lines"), ("oauth", "client_secret")):
            if of != kind and cleaned.get(place):
                self.add_error(place, why)

    def _clean_credential(self, kind: str, cleaned: dict[str, Any]) -> None:
        """What is typed in, or named, is given for the address as it is now; what is only left as it was is not."""
        server, (source, ref) = self.instance, self._source(kind, cleaned)
        is_filled = any(cleaned.get(place) for place in _PLACES[kind])
        is_typed = self.client_is_typed(cleaned) if kind == "oauth" else is_filled
        is_theirs = "source" not in self.fields or (source, ref) == (server.credential_source, server.credential_ref)
        if not is_typed and kind == server.credential_kind and is_theirs:
            return
        text = ""
        if kind in PER_PERSON and not keyring.is_set():
            self.add_error(
                "kind", _("MRTR_CREDENTIAL_KEYS is empty, so there is no key to keep people's tokens under.")
            )
        elif source == "form":
            text = self._text(kind, cleaned)
        elif is_typed and is_filled:
            place = next(place for place in _PLACES[kind] if cleaned.get(place))
            self.add_error(place, _("Leave this empty: the credential is taken from a variable or a file."))
        elif why := credentials.fault(source, ref):
            self.add_error("reference", why)
        self._given = registry.Credential(kind, source, ref, text)

    def _source(self, kind: str, cleaned: dict[str, Any]) -> tuple[str, str]:
        """Where it is taken from. What each person gives is not to be had from elsewhere."""
        source = "form" if kind == "each" else cleaned.get("source") or "form"
        return source, "" if source == "form" else cleaned.get("reference") or ""

    def _text(self, kind: str, cleaned: dict[str, Any]) -> str:
        """What was typed in of this kind, with an error where it cannot be kept."""
        if kind == "oauth":
            return self.clean_client(cleaned)
        if kind == "each":
            return ""
        (place,) = _PLACES[kind]
        text = cleaned.get(place) or ""
        if why := _fault(kind, text):
            self.add_error(place, why)
        return text

    def settle(self, server: Server, by: int | None) -> bool:
        """Give the saved server its credential. Whether one was dropped because the address has another origin."""
        is_none = (self.cleaned_data.get("kind") or "none") == "none"
        given = registry.Credential("none", "form") if is_none else self._given
        return registry.settle(server, given, by=by)


def _fault(kind: str, text: str) -> str:
    """Why a secret that was typed in cannot be kept."""
    if not text:
        return str(_("Type it in: there is none yet of this kind."))
    if not keyring.is_set():
        return str(
            _("MRTR_CREDENTIAL_KEYS is empty, so there is no key to seal this under. Take a variable or a file.")
        )
    try:
        headerlines.read(kind, text)
    except headerlines.Malformed as error:
        return str(error)
    return ""
