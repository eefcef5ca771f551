"""The client on a server's form that an admin has had registered where people sign in. Its secret never comes out."""

from typing import Any

from django import forms
from django.urls import reverse_lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from mrtr_web import clientlines, credentials, headerlines
from mrtr_web.admin.guarded import DrawnForm

FIELDS = ("client_id", "client_secret", "issuer")
_VISIBLE = r"^[!-~]+\Z"
_ODD = {"invalid": _("Only visible ASCII characters, without spaces.")}


class ClientForm(DrawnForm):
    client_id = forms.RegexField(
        _VISIBLE,
        label=_("Client id"),
        help_text=format_lazy(
            _(
                "Of the client that you have had registered there. People come back to this app's own address, "
                "followed by {path}."
            ),
            path=reverse_lazy("oauth_callback"),
        ),
        max_length=clientlines.MAX_LENGTH,
        strip=True,
        error_messages=_ODD,
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off", "spellcheck": "false"}),
        required=False,
    )
    client_secret = forms.RegexField(
        _VISIBLE,
        label=_("Client secret"),
        help_text=_("Where it has one. Leave it empty to keep the one that is set for this client id."),
        max_length=clientlines.MAX_LENGTH,
        strip=True,
        error_messages=_ODD,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        required=False,
    )
    issuer = forms.RegexField(
        r"^https?://[!-~]+\Z",
        label=_("Authorization server"),
        help_text=_(
            "Its issuer, letter by letter: only there is the client used. Empty: at the first one that the server "
            "names."
        ),
        max_length=clientlines.MAX_LENGTH,
        strip=True,
        error_messages={"invalid": _("An issuer begins with https:// and has no spaces.")},
        widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off", "spellcheck": "false"}),
        required=False,
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._held = _held(self.instance)
        for name, value in (("client_id", self._held.client_id), ("issuer", self._held.issuer)):
            if name in self.fields:
                self.fields[name].initial = value

    def client_is_typed(self, cleaned: dict[str, Any]) -> bool:
        """Whether the client is another one than the one that is set, as far as can be told."""
        return bool(cleaned.get("client_secret")) or _named(cleaned) != (self._held.client_id, self._held.issuer)

    def clean_client(self, cleaned: dict[str, Any]) -> str:
        """The lines of the client that was typed in; "" where this app is to register itself."""
        client_id, issuer = _named(cleaned)
        secret = cleaned.get("client_secret") or ""
        if not client_id and (secret or issuer):
            self.add_error("client_id", _("Type it in: without it the other two are of no use."))
        if not client_id:
            return ""
        if not secret and self._held.secret and client_id == self._held.client_id:
            self.add_error("client_secret", _("Type it in again: it was given for another authorization server."))
        return clientlines.write(clientlines.Given(client_id, secret, issuer))


def _named(cleaned: dict[str, Any]) -> tuple[str, str]:
    return cleaned.get("client_id") or "", cleaned.get("issuer") or ""


def _held(server: Any) -> clientlines.Given:
    """The client that was typed in; one of an empty id where there is none that can be opened."""
    text = credentials.typed(server) if server.pk and server.credential_kind == "oauth" else None
    try:
        return clientlines.read(text or "")
    except headerlines.Malformed:
        return clientlines.Given("")
