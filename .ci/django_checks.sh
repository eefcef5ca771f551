#!/bin/sh
# Migrations that match the models, and Django's own checks under settings as in production.
set -eu
SECRET_KEY=$(.venv/bin/python -c 'import secrets; print(secrets.token_urlsafe(64))')
export SECRET_KEY ALLOWED_HOSTS=mrtr.example
.venv/bin/python manage.py makemigrations --check --dry-run
.venv/bin/python manage.py check --deploy --fail-level WARNING
