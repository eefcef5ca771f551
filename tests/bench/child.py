"""python -m tests.bench.child PART: one part, in a process that its settings were made for."""

import importlib
import sys

import django


def main() -> None:
    django.setup()
    importlib.import_module(f"tests.bench.{sys.argv[1]}").run()


if __name__ == "__main__":
    main()
