"""The routes."""

from django.conf import settings
from django.contrib import admin
from django.templatetags.static import static
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView
from django.views.i18n import set_language

from mrtr_web.views import (
    account,
    catalog,
    connections,
    health,
    mine,
    own,
    records,
    reset,
    review,
    signing_in,
    site,
    start,
    styleguide,
    suggest,
    wizard,
)


class AnyConverter(StringConverter):
    """A server's name for something: slashes, line breaks and all."""

    regex = r"[\s\S]+"


register_converter(AnyConverter, "any")
urlpatterns = [
    path("", catalog.home, name="home"),
    path("accounts/login/", account.Login.as_view(), name="login"),
    path("accounts/logout/", account.Logout.as_view(), name="logout"),
    path("accounts/sign-out/", account.sign_out, name="sign_out"),
    path("accounts/profile/", own.profile, name="profile"),
    path("accounts/password/", own.change_password, name="password"),
    path("accounts/reset/", reset.ask, name="reset"),
    path("accounts/reset/sent/", reset.sent, name="reset_sent"),
    path("accounts/reset/done/", reset.done, name="reset_done"),
    path("accounts/reset/<str:uidb64>/", reset.Confirm.as_view(), name="reset_confirm"),
    path("accounts/sessions/end/", own.end_others, name="end_others"),
    path("accounts/session/", account.session, name="session"),
    path("s/<slug:slug>/", catalog.server, name="server"),
    path("s/<slug:slug>/tools/<any:name>/", start.start, {"kind": "tools"}, name="tool"),
    path("s/<slug:slug>/<int:copy>/tools/<any:name>/", start.start, {"kind": "tools"}, name="tool"),
    path("s/<slug:slug>/prompts/<any:name>/", start.start, {"kind": "prompts"}, name="prompt"),
    path("s/<slug:slug>/<int:copy>/prompts/<any:name>/", start.start, {"kind": "prompts"}, name="prompt"),
    path("s/<slug:slug>/resources/", start.start, {"kind": "resources"}, name="resource"),
    path("s/<slug:slug>/suggest/", suggest.suggest, name="suggest"),
    path("connections/", connections.mine, name="connections"),
    path("connections/<slug:slug>/", connections.one, name="connection"),
    path("connections/<slug:slug>/disconnect/", connections.disconnect, name="disconnect"),
    path("connections/<slug:slug>/sign-in/<uuid:ident>/", signing_in.leave, name="leave"),
    path("oauth/callback/", signing_in.callback, name="oauth_callback"),
    path("oauth/refused/", signing_in.refused, name="oauth_refused"),
    path("oauth/client-metadata.json", signing_in.document, name="client_metadata"),
    path("flows/", mine.mine, name="flows"),
    path("flows/forget/", mine.forget_ended, name="forget_ended"),
    path("flows/<uuid:flow_id>/", wizard.flow, name="flow"),
    path("flows/<uuid:flow_id>/timeline/", wizard.timeline, name="timeline"),
    path("flows/<uuid:flow_id>/check/", wizard.check, name="check"),
    path("flows/<uuid:flow_id>/answer/", wizard.answer, name="answer"),
    path("flows/<uuid:flow_id>/stop/", wizard.stop, name="stop"),
    path("flows/<uuid:flow_id>/forget/", wizard.forget, name="forget"),
    path("flows/<uuid:flow_id>/again/", wizard.again, name="again"),
    path("flows/<uuid:flow_id>/content/<int:number>/", wizard.content, name="content"),
    path("review/", review.queue, name="review"),
    path("review/servers/", review.servers, name="review_servers"),
    path("review/servers/<slug:slug>/switch/", review.switch, name="switch"),
    path("review/audit/", records.trail, name="audit"),
    path("review/audit.csv", records.trail_csv, name="audit_csv"),
    path("review/findings/", records.findings_list, name="findings_list"),
    path("review/findings/<slug:slug>/", records.findings_of, name="findings"),
    path("review/findings/<slug:slug>/report.txt", records.findings_text, name="findings_text"),
    path("review/numbers/", records.numbers, name="numbers"),
    path("rules/", records.rules, name="rules"),
    path("review/<uuid:flow_id>/", review.flow, name="review_flow"),
    path("review/<uuid:flow_id>/withdraw/", review.withdraw, name="withdraw"),
    path("review/<uuid:flow_id>/remind/", review.remind, name="remind"),
    path("review/<uuid:flow_id>/take/", review.take, name="take"),
    path("review/<uuid:flow_id>/release/", review.release, name="release"),
    path("review/<uuid:flow_id>/end-sessions/", review.end_sessions, name="end_sessions"),
    path("admin/login/", account.AdminLogin.as_view()),
    path("admin/logout/", account.Logout.as_view()),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    path("admin/", admin.site.urls),
    path("i18n/setlang/", require_POST(set_language), name="set_language"),
    path("favicon.ico", RedirectView.as_view(url=static("img/icon.svg"))),
    path("site/logo", site.logo, name="logo"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
]
if settings.CONFIG.oidc_issuer:
    from mrtr_web.views import sso

    urlpatterns += [
        path("accounts/login/sso/", sso.start, name="sso"),
        path("accounts/login/sso/callback/", sso.callback, name="sso_callback"),
        path("accounts/login/sso/refused/", sso.refused, name="sso_refused"),
    ]
if settings.CONFIG.loopback_http:  # where it is tried out
    urlpatterns.append(path("styleguide/", styleguide.show, name="styleguide"))

handler400 = "mrtr_web.views.trouble.unreadable"
handler500 = "mrtr_web.views.trouble.broken"
