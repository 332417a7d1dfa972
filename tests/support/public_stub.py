"""What type checkers read of the package; ``python docs/refresh.py`` stores it."""

from __future__ import annotations

from pathlib import Path

import scorekit

STUB = Path(scorekit.__file__).with_name("__init__.pyi")


def stub() -> str:
    """Return what type checkers read: the public names, made of the list in `__init__.py`."""
    homes = sorted(scorekit._HOME.items(), key=lambda one: one[1])
    lines = (f"from {home} import {name} as {name}\n" for name, home in homes)
    return f"""# Made of `__init__.py` by `python docs/refresh.py`.

from scorekit import readers as readers
from scorekit import strategies as strategies
{"".join(lines)}
__all__: list[str]  # noqa: PYI035 - made in `__init__.py`
__version__: str
_HOME: dict[str, str]
_on_load: object
"""


if __name__ == "__main__":
    if STUB.read_text(encoding="utf-8") != stub():
        STUB.write_text(stub(), encoding="utf-8")
        print("scorekit/__init__.pyi")  # noqa: T201 - of a script
