"""Single sign-on by OpenID Connect, on django-allauth. Imported only where MRTR_OIDC_ISSUER is set."""
