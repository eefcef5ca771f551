"""A wrong setting stops the start with the variable's name, and never with a secret's value."""

import os
from pathlib import Path

import pytest

from mrtr_web import config, secretfiles, ssoconfig, wayout
from tests.certificates import authority as authority
from tests.certificates import certificate as certificate


def test_defaults_are_those_of_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "MRTR_HEARTBEAT",
        "MRTR_LEASE",
        "MRTR_CONNECT_TIMEOUT",
        "MRTR_SILENCE_TIMEOUT",
        "MRTR_TOTAL_TIMEOUT",
    ):
        monkeypatch.delenv(name)
    found = config.load()
    assert (found.heartbeat, found.lease, found.connect_timeout) == (5, 20, 10)
    assert (found.silence_timeout, found.total_timeout) == (120, 1800)
    assert (found.session_idle, found.session_absolute) == (4 * 3600, 12 * 3600)
    assert (found.max_response_bytes, found.max_state_bytes) == (16 * 2**20, 256 * 2**10)
    assert (found.max_rounds, found.max_state_only_legs) == (50, 10)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "x" * 49),
        ("MRTR_HEARTBEAT", "soon"),
        ("MRTR_HEARTBEAT", "0"),
        ("MRTR_LEASE", "0.6"),
        ("MRTR_MAX_ROUNDS", "-1"),
        ("MRTR_DRAFTS", "perhaps"),
        ("MRTR_TIME_ZONE", "Mars/Olympus"),
        ("REDIS_URL", "http://127.0.0.1:6379"),
        ("REDIS_URL", "redis://"),
        ("REDIS_URL", "127.0.0.1:6379"),
        ("REDIS_URL", "redis://:canary#x@redis"),
        ("REDIS_URL", "redis://redis:canary"),
        ("REDIS_URL", "redis://redis:99999"),
        ("REDIS_URL", "redis://[::1"),
        ("MRTR_EGRESS_PROXY", "proxy.example:3128"),
        ("MRTR_EGRESS_PROXY", "http://me:canary@proxy.example"),
        ("MRTR_EGRESS_PROXY", "socks5://me:canary@proxy.example:1080"),
        ("MRTR_EGRESS_PROXY", "http://me:canary@proxy.example:3128/path"),
        ("MRTR_EGRESS_PROXY", "http://me:canary@:3128"),
        ("MRTR_EGRESS_PROXY", "http://me:canary@a..b:3128"),
        ("MRTR_EGRESS_PROXY", "http://me:canary@proxy.example:99999"),
        ("MRTR_EGRESS_PROXY", "http://me%3Ayou:canary@proxy.example:3128"),
        ("MRTR_EGRESS_PROXY", "http://me:canary%0d%0aHost:x@proxy.example:3128"),
        ("MRTR_CA_FILE", ""),
        ("MRTR_CA_FILE", "/nowhere"),
        ("MRTR_CA_FILE", "tests"),
        ("MRTR_CA_FILE", __file__),
        ("MRTR_EMAIL_URL", "http://mail:25"),
        ("MRTR_EMAIL_URL", "smtp://"),
        ("MRTR_EMAIL_URL", "smtp://user:canary@mail:587/path"),
        ("MRTR_EMAIL_FROM", "nobody"),
        ("MRTR_EMAIL_FROM", "a@b\nBcc: c@d"),
        ("MRTR_CLIENT_METADATA_URL", "https://site:canary/x"),
        ("MRTR_CLIENT_METADATA_URL", "https://[::1/x"),
        ("MRTR_OIDC_ISSUER", "http://login.example"),
        ("MRTR_OIDC_ISSUER", "http://127.0.0.1.example"),
        ("MRTR_OIDC_ISSUER", "login.example"),
        ("MRTR_OIDC_ISSUER", "https://me:canary@login.example"),
        ("MRTR_OIDC_ISSUER", "https://login.example?canary"),
        ("MRTR_OIDC_ISSUER", f"https://login.example/{'x' * 200}"),
        ("MRTR_OIDC_GROUPS_CLAIM", " "),
        ("MRTR_METRICS_TOKEN", "canary"),
        ("MRTR_METRICS_TOKEN", f"canary {'x' * 32}"),
        ("MRTR_LOG_LEVEL", "LOUD"),
        ("MRTR_LOG_LEVEL", ""),
        ("MRTR_LOG_FORMAT", "xml"),
        ("MRTR_CREDENTIAL_DIR", __file__),
        ("MRTR_CREDENTIAL_DIR", "/nowhere"),
        ("MRTR_CREDENTIAL_DIR", "tests"),
        ("MRTR_CREDENTIAL_DIR", ""),
        ("MRTR_SITE_NAME", "two\nlines"),
        ("MRTR_SITE_NAME", "  "),
        ("ALLOWED_HOSTS", "a.example,https://b.example"),
        ("ALLOWED_HOSTS", "a.example:8000"),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(config.BadSetting, match=f"^{name}: [^\n;]+$") as caught:
        config.load()
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name, field in config.Config.model_fields.items() if field.annotation in (int, float)]
)
@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "-1", "9" * 30])
def test_no_number_is_beyond_all_bounds(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"MRTR_{name.upper()}", value)
    with pytest.raises(config.BadSetting, match=f"MRTR_{name.upper()}: ") as caught:
        config.load()
    assert "MRTR_HEARTBEAT" in str(caught.value) or "; " not in str(caught.value)


def test_what_is_right_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {"MRTR_LOG_LEVEL": "debug", "MRTR_CREDENTIAL_DIR": str(tmp_path), "MRTR_SITE_NAME": " Réseau "}
    for name, value in (given | {"ALLOWED_HOSTS": "a.example,.b.example,[::1],127.0.0.1"}).items():
        monkeypatch.setenv(name, value)
    found = config.load()
    assert (found.log_level, found.credential_dir, found.site_name) == ("DEBUG", tmp_path, "Réseau")
    assert found.allowed_hosts == ("a.example", ".b.example", "[::1]", "127.0.0.1")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("MRTR_DATABASE_URL", "; is it DATABASE_URL?"),
        ("mrtr_secret_key_file", "; is it SECRET_KEY_FILE?"),
        ("MRTR_HEARTBEATS", "; is it MRTR_HEARTBEAT?"),
        ("MRTR_HEARTBEAT_FILE", "; is it MRTR_HEARTBEAT?"),
        ("MRTR_METRIC_TOKEN", "; is it MRTR_METRICS_TOKEN?"),
        ("MRTR_ZZZ", ""),
    ],
)
def test_a_name_that_nothing_reads_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, nearest: str) -> None:
    monkeypatch.setenv(name, "c4n4ry")
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value) == f"{name.upper()}: there is no such setting{nearest}"


def test_a_missing_secret_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY")
    with pytest.raises(config.BadSetting, match="^SECRET_KEY: "):
        config.load()


def test_lists_are_comma_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", " a.example, b.example ,")
    assert config.load().allowed_hosts == ("a.example", "b.example")


def test_databases() -> None:
    assert config.database("", Path("/x"))["NAME"] == "/x/var/db.sqlite3"
    found = config.database("postgresql://me:pw@db.example:5433/mrtr", Path("/x"))
    assert [found[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == [
        "mrtr",
        "me",
        "pw",
        "db.example",
        "5433",
    ]
    with pytest.raises(config.BadSetting, match="^DATABASE_URL: ") as caught:
        config.database("mysql://me:canary@db/x", Path("/x"))
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:canary#x@h/n",
        "postgresql://u:canary/x@h/n",
        "postgresql://u:canary?x@h/n",
        "postgresql://u:p@h:canary/n",
        "postgresql://u:p@h:99999/n",
        "postgresql://u:p@[::1/n",
        "postgresql://u:canary@h",
        "postgresql://u:canary@h/",
        "postgresql://u:p@h/n?canary=disable",
        "postgres:n",
        "sqlite://",
        "sqlite:///",
        "sqlite:db",
        "sqlite://canary/x",
        "canary",
    ],
)
def test_an_address_of_a_database_that_is_not_right_is_not_repeated(url: str) -> None:
    with pytest.raises(config.BadSetting, match="^DATABASE_URL: [^\n]+$") as caught:
        config.database(url, Path("/x"))
    assert "canary" not in str(caught.value)


def test_what_an_address_of_a_database_says_is_heeded() -> None:
    found = config.database("postgres://m%40e:p%23%2Fw@db/a%20b?sslmode=verify-full&sslrootcert=/ca.pem", Path("/x"))
    assert [found[key] for key in ("NAME", "USER", "PASSWORD", "PORT")] == ["a b", "m@e", "p#/w", ""]
    options = found["OPTIONS"]
    assert isinstance(options, dict)
    assert (options["sslmode"], options["sslrootcert"]) == ("verify-full", "/ca.pem")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("", ("", 587, "", "", False, True)),
        ("smtp://me:p%40w@mail.example", ("mail.example", 587, "me", "p@w", False, True)),
        ("smtps://mail.example", ("mail.example", 465, "", "", True, False)),
        ("smtp://127.0.0.1:25", ("127.0.0.1", 25, "", "", False, False)),
    ],
)
def test_mail_is_handed_over_under_tls_but_on_loopback(url: str, found: tuple[object, ...]) -> None:
    assert config.mail_server(url) == found
    assert "p@w" not in repr(config.mail_server(url))


SIGN_ON = {
    "MRTR_OIDC_ISSUER": "https://login.example/realms/ours",
    "MRTR_OIDC_CLIENT_ID": "mrtr",
    "MRTR_OIDC_CLIENT_SECRET": "c4n4ry",
}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"MRTR_OIDC_CLIENT_ID": ""}, "MRTR_OIDC_CLIENT_ID: is needed with MRTR_OIDC_ISSUER"),
        ({"MRTR_OIDC_CLIENT_SECRET": ""}, "MRTR_OIDC_CLIENT_SECRET: is needed with MRTR_OIDC_ISSUER"),
        ({"MRTR_OIDC_GROUPS": "desk"}, "MRTR_OIDC_GROUPS: must be value=group, comma separated"),
        ({"MRTR_OIDC_GROUPS": "=Desk"}, "MRTR_OIDC_GROUPS: must be value=group, comma separated"),
        ({"MRTR_OIDC_GROUPS": "desk= "}, "MRTR_OIDC_GROUPS: must be value=group, comma separated"),
        ({"MRTR_OIDC_NAME": "a\nb"}, "MRTR_OIDC_NAME: must be one line of text"),
        (
            dict.fromkeys(SIGN_ON, "") | {"MRTR_OIDC_SUPERUSERS": "root"},
            "MRTR_OIDC_SUPERUSERS: means nothing without MRTR_OIDC_ISSUER",
        ),
        ({"MRTR_OIDC_ISSUER": ""}, "MRTR_OIDC_CLIENT_ID: means nothing without MRTR_OIDC_ISSUER"),
    ],
)
def test_single_sign_on_is_set_as_a_whole(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], told: str) -> None:
    for name, value in (SIGN_ON | given).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value).startswith(told) and "c4n4ry" not in str(caught.value)


def test_single_sign_on_says_which_packages_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssoconfig, "PACKAGES", ("allauth", "a_package_that_nobody_has"))
    for name, value in SIGN_ON.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    wanted = "MRTR_OIDC_ISSUER: needs packages that are not installed: install requirements/sso.txt"
    assert str(caught.value) == wanted


def test_groups_stand_behind_the_last_sign_of_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (SIGN_ON | {"MRTR_OIDC_GROUPS": "/a/b=Desk one , x=y=Desk two"}).items():
        monkeypatch.setenv(name, value)
    found = config.load()
    assert found.groups_by_value == [("/a/b", "Desk one"), ("x=y", "Desk two")]
    assert (found.sso_name, found.oidc_groups_claim) == ("login.example", "groups")


def test_who_mails_says_from_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRTR_EMAIL_URL", "smtp://mail.example")
    with pytest.raises(config.BadSetting, match="^MRTR_EMAIL_FROM: must be an address"):
        config.load()
    monkeypatch.setenv("MRTR_EMAIL_FROM", "Forms <mrtr@example.org>")
    assert config.load().can_mail


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("", None),
        ("http://proxy.example:3128/", wayout.Proxy("proxy.example", 3128)),
        ("https://proxy:443", wayout.Proxy("proxy", 443, is_tls=True)),
        ("http://[::1]:3128", wayout.Proxy("::1", 3128)),
        ("http://me:p%40ss%3A@10.0.0.1:80", wayout.Proxy("10.0.0.1", 80, login="me:p@ss:")),
        ("http://token@10.0.0.1:80", wayout.Proxy("10.0.0.1", 80, login="token:")),
    ],
)
def test_a_proxy_is_read_as_it_is_written(url: str, found: wayout.Proxy | None) -> None:
    assert wayout.proxy(url) == found


def test_authorities_are_believed_beside_those_of_the_system(
    monkeypatch: pytest.MonkeyPatch, authority: Path, tmp_path: Path
) -> None:
    before = wayout.trust(None).cert_store_stats()["x509"]
    monkeypatch.setenv("MRTR_CA_FILE", str(authority))
    found = config.load()
    assert found.trust.cert_store_stats()["x509"] == before + 1
    authority.unlink()
    assert found.trust is config.load().trust, "it is made once, and the file is read once"


def test_a_file_of_authorities_that_cannot_be_taken_says_why(
    monkeypatch: pytest.MonkeyPatch, certificate: Path, authority: Path, tmp_path: Path
) -> None:
    pem, file = authority.read_text(), tmp_path / "given.pem"
    none = "holds no certificates in PEM (-----BEGIN CERTIFICATE-----), or broken ones"
    cases = {
        "": none,
        pem[:200]: none,
        f"{pem}{pem[:200]}": none,
        certificate.read_text(): "holds a private key: put only certificates of authorities into it",
        pem + "x" * wayout.MOST: "is larger than 4096 KiB",
    }
    monkeypatch.setenv("MRTR_CA_FILE", str(file))
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value) == f"MRTR_CA_FILE: {file} cannot be read (No such file or directory)"
    for text, why in cases.items():
        file.write_text(text)
        with pytest.raises(config.BadSetting) as caught:
            config.load()
        assert str(caught.value) == f"MRTR_CA_FILE: {file} {why}"


def test_without_redis_there_is_no_channel_layer() -> None:
    assert config.channel_layers("") == {}
    (host,) = config.channel_layers("rediss://:pw@r.example:6380")["default"]["CONFIG"]["hosts"]
    assert host["address"] == "rediss://:pw@r.example:6380"


def test_a_secret_is_not_printed() -> None:
    found = config.load()
    assert found.secret_key.get_secret_value() not in repr(found)


def test_the_readme_has_one_row_for_each_setting() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    rows = {line.split("`")[1]: line for line in readme.splitlines() if line.startswith("| `")}
    assert rows.keys() == set(map(config.variable, config.Config.model_fields))
    assert {name for name, row in rows.items() if f"`{name}_FILE`" in row} == set(secretfiles.VARIABLES)


SECRETS = {
    "SECRET_KEY": "c4n4ry" * 10,
    "SECRET_KEY_FALLBACKS": "c4n4ry-1, c4n4ry-2",
    "DATABASE_URL": "postgresql://me:c4n4ry@db/x",
    "REDIS_URL": "redis://:c4n4ry@redis:6379",
    "MRTR_CREDENTIAL_KEYS": "c4n4ry-abcdefghijklmnopqrstuvwxyz-0123456789-ABC",
    "MRTR_EGRESS_PROXY": "http://me:c4n4ry@proxy.example:3128",
    "MRTR_EMAIL_URL": "smtps://me:c4n4ry@mail.example",
    "MRTR_METRICS_TOKEN": "c4n4ry-0123456789-abcdefghijklmnop",
    "MRTR_OIDC_CLIENT_SECRET": "c4n4ry",
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No secret is set."""
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_every_secret_may_be_a_file(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("MRTR_EMAIL_FROM", "mrtr@example.org")
    bare.setenv("MRTR_OIDC_ISSUER", "https://login.example")
    bare.setenv("MRTR_OIDC_CLIENT_ID", "mrtr")
    for name, value in SECRETS.items():
        (tmp_path / name).write_text(f"{value}\n")
        bare.setenv(f"{name}_FILE", str(tmp_path / name))
    found = config.load()
    assert found.secret_key.get_secret_value() == SECRETS["SECRET_KEY"]
    assert found.secret_key_fallbacks == ("c4n4ry-1", "c4n4ry-2")
    assert found.database_url.get_secret_value() == SECRETS["DATABASE_URL"]
    assert found.redis_url.get_secret_value() == SECRETS["REDIS_URL"]
    assert found.email_url.get_secret_value() == SECRETS["MRTR_EMAIL_URL"]
    assert found.credential_keys == (SECRETS["MRTR_CREDENTIAL_KEYS"],)
    assert found.oidc_client_secret.get_secret_value() == SECRETS["MRTR_OIDC_CLIENT_SECRET"]
    assert found.proxy == wayout.Proxy("proxy.example", 3128, login="me:c4n4ry")
    assert "c4n4ry" not in repr(found) + repr(found.proxy)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_of_a_file_only_the_last_line_break_is_left_out(bare: pytest.MonkeyPatch, tmp_path: Path, ending: str) -> None:
    (tmp_path / "key").write_text(" " + "k" * 60 + " " + ending, newline="")
    bare.setenv("secret_key_file", str(tmp_path / "key"))
    assert config.load().secret_key.get_secret_value() == " " + "k" * 60 + " "


def test_a_secret_is_given_once(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRETS["SECRET_KEY"])
    bare.setenv("SECRET_KEY", SECRETS["SECRET_KEY"])
    bare.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value) == "SECRET_KEY and SECRET_KEY_FILE: give one of the two"
    bare.setenv("SECRET_KEY", "")
    assert config.load().secret_key.get_secret_value() == SECRETS["SECRET_KEY"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"c4n4ry" * 20_000, "is larger than 64 KiB"),
        (b"\xffc4n4ry", "is not text in UTF-8"),
        (b"c4n4ry\nc4n4ry\n", "must hold one line of text"),
        (b"c4n4ry\0", "must hold one line of text"),
    ],
)
@pytest.mark.parametrize("name", SECRETS)
def test_a_file_that_cannot_be_taken_is_named_and_never_repeated(
    bare: pytest.MonkeyPatch, tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    bare.setenv("SECRET_KEY", SECRETS["SECRET_KEY"])
    bare.delenv(name, raising=False)
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    bare.setenv(f"{name}_FILE", str(path))
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert str(caught.value) == f"{name}_FILE: {path} {why}"


def test_what_is_no_file_is_not_waited_for(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    bare.setenv("REDIS_URL_FILE", str(tmp_path / "pipe"))
    bare.setenv("DATABASE_URL_FILE", str(tmp_path))
    bare.setenv("SECRET_KEY_FILE", "")
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    assert sorted(str(caught.value).split("; ")) == [
        f"DATABASE_URL_FILE: {tmp_path} cannot be read (Is a directory)",
        f"REDIS_URL_FILE: {tmp_path}/pipe is not a regular file",
        "SECRET_KEY_FILE: it names no file",
    ]


def test_a_wrong_value_in_a_file_names_the_file_variable(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("c4n4ry")
    bare.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    bare.setenv("MRTR_MAX_ROUNDS", "0")
    with pytest.raises(config.BadSetting) as caught:
        config.load()
    first, second = str(caught.value).split("; ")
    assert first == "SECRET_KEY_FILE: must have 50 random characters or more"
    assert second.startswith("MRTR_MAX_ROUNDS: ")
