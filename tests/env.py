"""Settings for the tests, set before Django reads them. A plugin of pytest: see addopts in pyproject.toml."""

import os

os.environ.update(
    {
        "SECRET_KEY": "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz-0123456789",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "MRTR_LOOPBACK_HTTP": "true",
        "MRTR_CREDENTIAL_KEYS": "only-for-tests-abcdefghijklmnopqrstuvwxyz-0123456789",
        "MRTR_HEARTBEAT": "0.5",
        "MRTR_LEASE": "5",
        "MRTR_CONNECT_TIMEOUT": "3",
        "MRTR_SILENCE_TIMEOUT": "20",
        "MRTR_TOTAL_TIMEOUT": "60",
        "MRTR_DRAIN_TIMEOUT": "5",
        # Tests do in a second what takes people an hour.
        "MRTR_LEGS_PER_MINUTE": "60000",
        "MRTR_RUNNING_LEGS": "1000",
        "MRTR_OPEN_FLOWS": "1000",
        "PGAPPNAME": "pytest",
    }
)
