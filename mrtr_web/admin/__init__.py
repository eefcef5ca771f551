"""Django's admin: servers, people, sessions, and the records of requests, to be read. No content is in it."""

from django.conf import settings
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from mrtr_web.admin import connections, people, records, servers  # noqa: F401  each registers its own

admin.site.site_header = admin.site.site_title = settings.CONFIG.site_name
admin.site.index_title = _("Administration")
