"""The kinds of torture, by name."""

from __future__ import annotations

from ..servers.misbehaving import MisbehavingServer
from .folders import links, locks
from .harness import Case
from .names import names
from .pages import pages
from .runs import damage, disks, kills
from .servers import servers
from .shell import shell
from .stores import stores
from .tables import tables
from .wires import encodings, proxies

KINDS: dict[str, Case] = {
    "kills": kills,
    "damage": damage,
    "disks": disks,
    "links": links,
    "locks": locks,
    "tables": tables,
    "stores": stores,
    "servers": servers,
    "encodings": encodings,
    "proxies": proxies,
    "names": names,
    "pages": pages,
    "shell": shell,
}


def warm() -> None:
    """Import what is slow to import, once, before lots are forked."""
    import summeval_nb

    summeval_nb.evaluate("It rained.", "It rained.")
    summeval_nb.summarization_score("It rained in Paris.", "It rained.")
    with MisbehavingServer() as server:
        backend = summeval_nb.ServerBackend("scripted", base_url=server.url, timeout=60)
        backend.choose("Well?", ["yes", "no"])
