#!/bin/sh
# Migrations that match the models, and Django's own checks under settings as in production, without single sign-on and with.
set -eu
SECRET_KEY=$(.venv/bin/python -c 'import secrets; print(secrets.token_urlsafe(64))')
export SECRET_KEY ALLOWED_HOSTS=mrtr.example
check() {
    .venv/bin/python manage.py makemigrations --check --dry-run
    .venv/bin/python manage.py check --deploy --fail-level WARNING
}
check
export MRTR_OIDC_ISSUER=https://login.example MRTR_OIDC_CLIENT_ID=mrtr MRTR_OIDC_CLIENT_SECRET=not-used
check
