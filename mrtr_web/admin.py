"""Django's admin: servers. What belongs to people's requests is not here."""

from django.contrib import admin

from mrtr_web.models import Server


@admin.register(Server)
class ServerAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "slug", "url", "enabled")
    fields = ("slug", "name", "url", "bearer_env", "allow_private", "capabilities", "enabled", "groups")
    filter_horizontal = ("groups",)
