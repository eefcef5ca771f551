"""The mail server, as far as one gets without sending a mail."""

import smtplib
import ssl
from collections.abc import Iterator

from django.conf import settings
from django.core.mail import get_connection

from mrtr_web.doctor.finding import Finding, fault, well


def office() -> Iterator[Finding]:
    """Nothing where no mails are sent."""
    if settings.CONFIG.can_mail:
        yield _open()


def _open() -> Finding:
    place = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    connection = get_connection()
    try:
        connection.open()
    except smtplib.SMTPAuthenticationError:
        return fault("mail", f"{place} refuses the user or the password. Put those of MRTR_EMAIL_URL right")
    except smtplib.SMTPNotSupportedError:
        return fault("mail", f"{place} has no STARTTLS, or nobody may sign in there. Use smtps://, or another port")
    except ssl.SSLError:
        return fault("mail", f"TLS with {place} fails. Is it smtp:// or smtps://, and is its certificate sound?")
    except (smtplib.SMTPException, OSError) as error:
        words = f"{place} is not reached ({type(error).__name__}). Start it, or put MRTR_EMAIL_URL right"
        return fault("mail", words)
    finally:
        connection.close()
    return well("mail", f"{place} lets us in")
