"""Every sentence that tells a person what to write or to mend, by code. Translated where it is shown."""

from collections.abc import Mapping


def gettext_noop(text: str) -> str:
    """Mark for makemessages, without Django."""
    return text


SENTENCES: Mapping[str, str] = {
    # Any field
    "required": gettext_noop("Fill in “%(label)s”."),
    "required_or_blank": gettext_noop("Fill in “%(label)s”, or tick that you mean an empty text."),
    "text_broken": gettext_noop("This holds half a character, which cannot be sent. Type the text again."),
    # Text
    "too_short": gettext_noop("Use at least %(minimum)s characters (this has %(length)s)."),
    "too_long": gettext_noop("Use at most %(maximum)s characters (this has %(length)s)."),
    "email": gettext_noop("Enter an email address, such as name@example.org."),
    "uuid": gettext_noop("Enter an identifier such as 123e4567-e89b-12d3-a456-426614174000."),
    "uri": gettext_noop("Enter a full address with its beginning, such as https://example.org/page."),
    # Numbers
    "integer": gettext_noop("Enter a whole number, such as 3."),
    "integer_comma": gettext_noop("Enter a whole number, such as 3: no decimals, and nothing between thousands."),
    "number": gettext_noop("Enter a number, such as 3 or 1.5."),
    "number_comma": gettext_noop("Write decimals with a point, such as 1.5, and put nothing between thousands."),
    "number_spaces": gettext_noop("Take out the spaces and write digits only, such as 1200."),
    "number_long": gettext_noop("This number is too long. Use at most %(maximum)s digits."),
    "number_inexact": gettext_noop(
        "This number has more digits than can be sent exactly. The nearest that can is %(nearest)s."
    ),
    "number_huge": gettext_noop("This number is too large or too small to be sent exactly."),
    "too_low": gettext_noop("Enter %(minimum)s or more."),
    "too_high": gettext_noop("Enter %(maximum)s or less."),
    # Dates
    "date": gettext_noop("Enter a real date, such as 31 December 2026 (typed as text: 2026-12-31)."),
    "date_time": gettext_noop(
        "Enter a real date and time, such as 31 December 2026, 14:30 (typed as text: 2026-12-31T14:30)."
    ),
    "time": gettext_noop("Enter a real time of day, such as 14:30 or 14:30:15."),
    "zone_unknown": gettext_noop("Choose a time zone from the list."),
    "time_skipped": gettext_noop(
        "This time does not exist in %(zone)s: the clocks go forward over it. Enter another time."
    ),
    "time_twice": gettext_noop(
        "This time comes twice in %(zone)s, because the clocks go back. Choose which one you mean."
    ),
    # Choices
    "choose_one": gettext_noop("Choose one of the answers."),
    "choose_yes_no": gettext_noop("Choose Yes or No."),
    "choose_listed": gettext_noop("Choose from the list."),
    "choose_found": gettext_noop("There is no such entry. Type a part of one, then pick it from the list."),
    "too_few": gettext_noop("Choose at least %(minimum)s (you chose %(count)s)."),
    "too_many": gettext_noop("Choose at most %(maximum)s (you chose %(count)s)."),
    "choose_branch": gettext_noop("Choose which of these you want to fill in."),
    "too_few_entries": gettext_noop("Add entries until there are at least %(minimum)s (there are %(count)s)."),
    "too_many_entries": gettext_noop("Remove entries until there are at most %(maximum)s (there are %(count)s)."),
    "key_twice": gettext_noop("This name stands here twice. Give each entry a name of its own."),
    # Files
    "file_missing": gettext_noop("Choose a file."),
    "file_broken": gettext_noop("This file did not arrive whole. Choose it again."),
    "file_large": gettext_noop(
        "This file is too large, or all files together are. Choose one of at most %(maximum)s kB."
    ),
    # JSON
    "json": gettext_noop("This is not complete JSON. Look at line %(line)s, character %(column)s."),
    "json_number": gettext_noop("NaN and Infinity are not JSON. Use a number or null."),
    "json_twice": gettext_noop("The name %(name)s stands twice in one object. Keep one of them."),
    "json_deep": gettext_noop("This is nested too deeply. Use at most %(maximum)s levels."),
    "json_no_form": gettext_noop("The form has no fields for this: %(names)s. Leave it as JSON, or change it to fit."),
    "json_object": gettext_noop('Write an object in braces, such as {"name": "value"}.'),
    "json_array": gettext_noop('Write a list in square brackets, such as ["one", "two"].'),
    # A reply to be written, and folders to be named (pages.py)
    "too_many_tokens": gettext_noop(
        "This is longer than the server takes: %(maximum)s tokens, about %(words)s words. Shorten it."
    ),
    "root_scheme": gettext_noop(
        "%(uri)s is not the whole way to a folder. Write it from the beginning, such as /home/ada/photos."
    ),
    "root_characters": gettext_noop(
        "%(uri)s holds characters that cannot stand in an address. Write the folder plainly, such as /home/ada/photos."
    ),
    "root_steps": gettext_noop("%(uri)s leads out of a folder. Name the folder itself, without . and .. in it."),
    "root_long": gettext_noop("%(uri)s is too long. Use at most 2000 characters."),
    "mirrored_integer": gettext_noop(
        "Enter a number from %(minimum)s to %(maximum)s: this server takes no larger one."
    ),
    # The answer as a whole (check.py)
    "missing": gettext_noop("%(name)s is needed here."),
    "unexpected": gettext_noop("The server does not take these here: %(names)s."),
    "wrong_type": gettext_noop("The server wants another kind of value here: %(types)s."),
    "pattern": gettext_noop("The server wants this to be written in a certain way (pattern %(pattern)s)."),
    "above": gettext_noop("Enter more than %(minimum)s."),
    "below": gettext_noop("Enter less than %(maximum)s."),
    "multiple": gettext_noop("Enter a multiple of %(step)s."),
    "not_listed": gettext_noop("The server takes only certain values here, and this is none of them."),
    "no_such_entry": gettext_noop("The server wants an entry of a certain kind among these, and none is."),
    "name_refused": gettext_noop("The server does not take the name %(name)s here."),
    "refused_together": gettext_noop(
        "The server does not take these values as they are here. Change or leave out one."
    ),
    "not_unique": gettext_noop("Each entry may come only once."),
    "format": gettext_noop("The server wants another format here: %(format)s."),
    "no_variant": gettext_noop("This matches none of the forms that the server takes here."),
    "mismatch": gettext_noop("The server's rules do not allow this value."),
    "too_much": gettext_noop("This answer is too large to be checked here."),
    # Hints before the field (hints.py)
    "hint_length_between": gettext_noop("Use %(minimum)s to %(maximum)s characters."),
    "hint_length_exactly": gettext_noop("Use exactly %(minimum)s characters."),
    "hint_length_from": gettext_noop("Use at least %(minimum)s characters."),
    "hint_length_to": gettext_noop("Use at most %(maximum)s characters."),
    "hint_number_between": gettext_noop("From %(minimum)s to %(maximum)s."),
    "hint_number_from": gettext_noop("%(minimum)s or more."),
    "hint_number_to": gettext_noop("%(maximum)s or less."),
    "hint_number_above": gettext_noop("More than %(above)s."),
    "hint_number_below": gettext_noop("Less than %(below)s."),
    "hint_number_step": gettext_noop("A multiple of %(step)s."),
    "hint_examples": gettext_noop("For example: %(examples)s."),
    "hint_deprecated": gettext_noop("The server wants this to be used no longer."),
    "hint_entries_between": gettext_noop("Between %(minimum)s and %(maximum)s entries."),
    "hint_entries_exactly": gettext_noop("Exactly %(minimum)s entries."),
    "hint_entries_from": gettext_noop("At least %(minimum)s entries."),
    "hint_entries_to": gettext_noop("At most %(maximum)s entries."),
    "hint_duration": gettext_noop("Write it like P1DT2H30M (1 day, 2 hours, 30 minutes) or PT45M (45 minutes)."),
    "hint_ipv4": gettext_noop("An address such as 192.0.2.1."),
    "hint_ipv6": gettext_noop("An address such as 2001:db8::1."),
    "hint_hostname": gettext_noop("A name such as www.example.org."),
    "hint_search": gettext_noop("There are %(count)s to choose from: type a part of one, then pick it from the list."),
    "hint_count_between": gettext_noop("Choose between %(minimum)s and %(maximum)s."),
    "hint_count_exactly": gettext_noop("Choose exactly %(minimum)s."),
    "hint_count_from": gettext_noop("Choose at least %(minimum)s."),
    "hint_count_to": gettext_noop("Choose at most %(maximum)s."),
    "hint_optional_count_between": gettext_noop("If you answer, choose between %(minimum)s and %(maximum)s."),
    "hint_optional_count_exactly": gettext_noop("If you answer, choose exactly %(minimum)s."),
    "hint_optional_count_from": gettext_noop("If you answer, choose at least %(minimum)s."),
    "hint_json": gettext_noop(
        'Write JSON: a text in quotation marks, a number, true, false, a ["list"] or an {"object": 1}.'
    ),
    # The schema itself
    "schema_size": gettext_noop("The server's form is too large to be shown (limit: %(maximum)s bytes)."),
    "schema_depth": gettext_noop("The server's form is nested too deeply to be shown."),
    "schema_fields": gettext_noop("The server's form has too many fields to be shown (limit: %(maximum)s)."),
    "schema_options": gettext_noop("The server's form has too many options to be shown (limit: %(maximum)s)."),
    "schema_shape": gettext_noop("The server sent a form that is not one."),
    "schema_dialect": gettext_noop("The server's form is written in a kind of JSON Schema that we do not know."),
    "schema_broken": gettext_noop("The server's rules for this answer are faulty, so it was not checked."),
    "schema_costly": gettext_noop("The server's rules for this answer take too long, so it was not checked."),
}
