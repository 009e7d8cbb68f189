"""Implement ``littlestone budget``, which keeps the budget book of a source of data."""

import time
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.options import AsJson
from littlestone.cli.output import print_json
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book


def run(
    action: Annotated[
        str,
        typer.Argument(
            metavar="init|show|return", help="Create a book, show it, or return a reservation."
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="BOOK", help="The file; one for each source of data.")
    ],
    epsilon: Annotated[
        float | None, typer.Option(help="For init: what all stores may promise together.")
    ] = None,
    delta: Annotated[float, typer.Option(help="For init: the same, for delta.")] = 0.0,
    composition: Annotated[
        str,
        typer.Option(
            help="For init: basic (sums), or concentrated (sums of squares, for promises without "
            "delta). It is fixed when the book is created, like the allowance."
        ),
    ] = "basic",
    store: Annotated[
        str | None,
        typer.Option(help="For return: the store with the reservation, which was never created."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Enter each store with ``learn --book BOOK``, once, before the store is created.

    A store that would exceed the allowance is rejected. Continuing a store costs nothing more. Only
    the reservation of a store that never began can be returned.
    """
    if (store is None) == (action == "return"):
        raise ValueError("store must be given for 'return', and for nothing else (--store)")
    if action != "init" and (epsilon is not None or delta):
        raise ValueError(
            "epsilon and delta must be given for init only: they are fixed when a book is created"
        )
    if action == "init":
        if epsilon is None:
            raise ValueError("epsilon must be given for init: what all stores may promise together")
        allowance = PrivacyGuarantee(epsilon=epsilon, delta=delta)
        book = Book.create(path, allowance=allowance, composition=composition)
    elif action in ("show", "return"):
        book = Book(path)
        if store is not None:
            book.give_back(store)
    else:
        raise ValueError(f"action must be 'init', 'show' or 'return', got {action!r}")
    if as_json:
        print_json(_record(book))
        return
    for entry in book.entries():
        since = time.strftime("%Y-%m-%d", time.localtime(entry.at))
        state = "" if entry.opened else " (reserved: not created yet)"
        typer.echo(f"{since}  {entry.store}{state}: {entry.promise}")
    typer.echo(book.explain())


def _record(book: Book) -> dict[str, object]:
    entries = book.entries()
    stores = [entry for entry in entries if entry.state != "noted"]
    total = book.total(entries)
    return {
        "allowance": {"epsilon": book.allowance.epsilon, "delta": book.allowance.delta},
        "composition": book.composition,
        "promised": {"epsilon": total.epsilon, "delta": total.delta},
        "stores": [
            {
                "identity": entry.identity,
                "store": entry.store,
                "epsilon": entry.promised.epsilon,
                "delta": entry.promised.delta,
                "promise": entry.promise,
                "at": entry.at,
                "opened": entry.opened,
            }
            for entry in stores
        ],
        "notes": [
            {"store": entry.store, "note": entry.promise, "at": entry.at}
            for entry in entries
            if entry.state == "noted"
        ],
    }
