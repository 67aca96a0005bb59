"""The kinds of torture, by name."""

from __future__ import annotations

from .harness import Case
from .names import names
from .pages import pages
from .runs import damage, disks, kills
from .servers import servers
from .shell import shell
from .stores import stores

KINDS: dict[str, Case] = {
    "kills": kills,
    "damage": damage,
    "disks": disks,
    "stores": stores,
    "servers": servers,
    "names": names,
    "pages": pages,
    "shell": shell,
}
