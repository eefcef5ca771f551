"""The one error for what a person typed."""


class Invalid(Exception):
    """What was typed is no answer to this field. `code` is a key of sentences.SENTENCES."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params
