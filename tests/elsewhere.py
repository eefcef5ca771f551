"""The app's settings, but that the static files are where STATIC_ROOT says: not in the checkout, which tests share."""

import os
from pathlib import Path

from mrtr_web.settings import *  # noqa: F403

STATIC_ROOT = Path(os.environ["STATIC_ROOT"])
