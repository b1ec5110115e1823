"""The first page: the server, its health, and every table with its size and load."""

import platform

from widerow import __version__
from widerow.auth.keyring import Permission
from widerow.console.health import checks
from widerow.console.live import actions_since
from widerow.console.parts import PageDocument, Visit
from widerow.console.places import MODELS, TablePlace, all_tables, sizes_of
from widerow.limits import CONSOLE_TABLES_MAX
from widerow.storage.opener import shown_url

__all__ = ["show_overview"]

_RATE_SECONDS = 10.0  # over which the rate of the first page is taken


def show_overview(visit: Visit) -> PageDocument:
    """Instances and tables of all models, a hundred at a time, and the health of the server.

    Parameters: `q`, a part of the names that are wanted; `page`, from 1.
    """
    parts = visit.parts
    wanted = visit.asked.get("q", "").strip().lower()
    every = all_tables(visit)
    found = [each for each in every if wanted in f"{each.instance}/{each.name}".lower()]
    pages = max(1, -(-len(found) // CONSOLE_TABLES_MAX))
    page = min(visit.number("page", 1, 1_000_000), pages)
    names = found[(page - 1) * CONSOLE_TABLES_MAX : page * CONSOLE_TABLES_MAX]
    sizes = sizes_of(visit, names)
    whole, _ = actions_since([*list(parts.recent.samples), parts.recent.now()], _RATE_SECONDS)
    return {
        "server": {
            "version": __version__,
            "python": platform.python_version(),
            "endpoint": parts.endpoint(),
            "store": shown_url(parts.settings.store),
            "up_seconds": round((parts.clock.now_us() - parts.recent.started_us) / 1e6),
        },
        "health": [each for each in checks(visit) if each["state"] != "good"],
        "requests": whole,
        "may_create": visit.may(Permission.MANAGE),
        "tables_total": len(every),
        "tables_found": len(found),
        "q": wanted,
        "page": page,
        "pages": pages,
        "instances": _by_instance(names, sizes),
    }


def _by_instance(
    names: list[TablePlace], sizes: dict[TablePlace, PageDocument]
) -> list[PageDocument]:
    """The tables, one entry for each instance and model."""
    groups: dict[tuple[str, str], list[PageDocument]] = {}
    for each in names:
        if each in sizes:
            table = {"name": each.name, **sizes[each]}
            groups.setdefault((each.instance, each.model), []).append(table)
    return [
        {"instance": instance, "model": model, "model_name": MODELS[model], "tables": tables}
        for (instance, model), tables in groups.items()
    ]
