"""A column for JSON that keeps the order of its keys and any text: as ASCII text, not as a database's own JSON."""

import json
from typing import Any

from django.db import models


class JSONText(models.TextField):  # type: ignore[type-arg]
    """JSON as text. jsonb would reorder keys, and so the fields of forms (T-8), and refuse U+0000."""

    _pyi_private_set_type: Any  # for the type checker: any JSON
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value)

    def to_python(self, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) and value else value

    def value_to_string(self, obj: models.Model) -> str:
        return json.dumps(self.value_from_object(obj))
