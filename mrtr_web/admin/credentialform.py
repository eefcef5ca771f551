"""The credential on a server's form: what kind, from where, and a secret that goes in and never comes out."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from mrtr_web import credentials, headerlines, keyring, registry
from mrtr_web.admin.fields import SecretLines
from mrtr_web.admin.guarded import DrawnForm
from mrtr_web.models import CREDENTIAL_KINDS, CREDENTIAL_SOURCES, Server

FIELDS = ("kind", "source", "reference", "token", "header_lines")
OF_SUPERUSERS = ("source", "reference")


class CredentialForm(DrawnForm):
    """given() is what is to be stored: None keeps what is there."""

    kind = forms.ChoiceField(label=_("Kind"), choices=CREDENTIAL_KINDS, required=False)
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
        help_text=_("Sent as Authorization: Bearer … Leave it empty to keep the one that is set."),
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
        if kind != "none":
            self._clean_credential(kind, cleaned)
        return cleaned

    def _clean_credential(self, kind: str, cleaned: dict[str, Any]) -> None:
        """What is typed in, or named, is given for the address as it is now; what is only left as it was is not."""
        place = "token" if kind == "bearer" else "header_lines"
        text, server = cleaned.get(place) or "", self.instance
        source, ref = "form", ""
        if "source" in self.fields:
            source = cleaned.get("source") or "form"
            ref = "" if source == "form" else cleaned.get("reference", "")
        is_theirs = "source" not in self.fields or (source, ref) == (server.credential_source, server.credential_ref)
        if not text and kind == server.credential_kind and is_theirs:
            return
        if source == "form":
            why = _fault(kind, text)
        elif text:
            why = str(_("Leave this empty: the credential is taken from a variable or a file."))
        else:
            place, why = "reference", credentials.fault(source, ref)
        if why:
            self.add_error(place, why)
        self._given = registry.Credential(kind, source, ref, text)

    def settle(self, server: Server) -> bool:
        """Give the saved server its credential. Whether one was dropped because the address has another origin."""
        if (self.cleaned_data.get("kind") or "none") == "none":
            credentials.drop(server)
            return False
        return registry.settle(server, self._given)


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
