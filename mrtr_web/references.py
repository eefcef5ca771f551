"""References of flows, as people quote them: the first eight hexadecimal digits of the id, or more of them."""

import uuid

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class ReferenceField(forms.CharField):
    """Gives the digits, in lower case and without what people write around them."""

    def __init__(self) -> None:
        super().__init__(label=gettext_lazy("Reference"), required=False, max_length=40)

    def clean(self, value: object) -> str:
        digits = str(super().clean(value)).replace("-", "").lower().lstrip("#")
        if len(digits) > 32 or set(digits) - set("0123456789abcdef"):
            raise forms.ValidationError(_("A reference has the digits 0 to 9 and the letters A to F."))
        return digits


def between(digits: str) -> tuple[uuid.UUID, uuid.UUID]:
    """The first and the last id that begin with these digits."""
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))


def short(ident: uuid.UUID) -> str:
    """The word to quote for the flow of this id."""
    return ident.hex[:8].upper()
