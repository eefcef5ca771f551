"""The form of a server."""

import json
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from mrtr_web import catalog, entries, keyring
from mrtr_web.admin.credentialform import CredentialForm
from mrtr_web.admin.fields import LinesField, NamesField, RootsField
from mrtr_web.models import CAPABILITIES, PRIVATE_NETWORKS, Server, asks_by_form
from mrtr_web.schema.text import clean_text, one_line


class ServerForm(CredentialForm):
    url = forms.URLField(
        label=_("Address"),
        help_text=_(
            "Of its MCP endpoint. With another one, people's own tokens are dropped; with another host or port, its "
            "credential, too. They must be given again."
        ),
        max_length=500,
        assume_scheme="https",
        widget=forms.URLInput(attrs={"class": "vURLField"}),
    )
    tags = LinesField(
        label=_("Tags"), help_text=_("Words to find it by, one a line or comma separated."), required=False
    )
    private_networks = LinesField(
        label=_("Private networks"),
        help_text=format_lazy(
            _(
                "Where its name may lead although it is private, one a line: 10.1.2.0/24 or 127.0.0.1. Only there, "
                "plain http is used, too. Parts of {all}; cloud metadata is never reached."
            ),
            all=", ".join(PRIVATE_NETWORKS),
        ),
        required=False,
    )
    capabilities = forms.MultipleChoiceField(
        label=_("Declared to the server"),
        help_text=_(
            "What the server may ask people for: forms and pages to open (elicitation), texts to write (sampling), "
            "names of folders (roots). The last two are deprecated by the specification."
        ),
        choices=[(name, name) for name in CAPABILITIES],
        initial=asks_by_form,
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    roots = RootsField(
        label=_("Folders"),
        help_text=_(
            "Offered to people when the server asks for roots. One a line: file:///home/ada/photos, or with a name: "
            "Photos = file:///home/ada/photos. Write %20 for a space in the address."
        ),
        required=False,
    )
    hidden_tools = forms.TypedMultipleChoiceField(
        label=_("Hidden tools"),
        help_text=_("People are not offered those that are ticked."),
        coerce=json.loads,
        empty_value=[],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    hide_too = NamesField(
        label=_("Hide these tools, too"), help_text=_("Exact names of tools that are not in the list."), required=False
    )
    keep_messages = forms.BooleanField(
        label=_("Keep what the server asks for reviewers"),
        help_text=_(
            "Reviewers may then read what the server asks, which often repeats what people typed. It is sealed under "
            "the key ring, and gone when the request ends. People are told."
        ),
        required=False,
    )

    class Meta:
        model = Server
        fields = "__all__"
        labels: ClassVar = {"silence_timeout": _("Silence"), "total_timeout": _("Time in all")}
        help_texts: ClassVar = {
            "slug": _("Its word in addresses and commands."),
            "letter": _("Shown in its icon. Empty: the first letter of its name."),
            "silence_timeout": _(
                "Seconds without a byte from it after which it is given up. Empty: as in the settings."
            ),
            "total_timeout": _("Seconds that one exchange with it may take. Empty: as in the settings."),
            "groups": _("Who may use it. None: everybody."),
            "enabled": _("Whether people may use it. What is under way may finish when it is switched off."),
        }

    looker = 0
    """Whose listing of its tools is shown: the person's who looks at the form (CH-2)."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "hidden_tools" in self.fields:
            choices = [(json.dumps(name), one_line(clean_text(name, 200))) for name in self._tools()]
            self.fields["hidden_tools"].choices = choices  # type: ignore[attr-defined]
            self.initial["hidden_tools"] = [json.dumps(name) for name in self.instance.hidden_tools]

    def _tools(self) -> list[str]:
        """Names of its tools: of those that are hidden, and those that are listed."""
        if self.instance.pk is None:
            return []
        catalog.attach(self.looker, self.instance)
        listed = (entry.name for entry in entries.named(self.instance, "tools"))
        return list(dict.fromkeys([*self.instance.hidden_tools, *listed]))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if more := cleaned.get("hide_too"):
            cleaned["hidden_tools"] = list(dict.fromkeys([*cleaned.get("hidden_tools", ()), *more]))
        return cleaned

    def clean_keep_messages(self) -> bool:
        if (keep := bool(self.cleaned_data["keep_messages"])) and not keyring.is_set():
            raise ValidationError(_("MRTR_CREDENTIAL_KEYS is empty, so there is no key to seal messages under."))
        return keep
