"""The command ``littlestone budget`` keeps the book of a source of data."""

import time
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.options import AsJson
from littlestone.cli.output import print_json
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.service.promises.book import Book


def run(
    action: Annotated[
        str,
        typer.Argument(
            metavar="init|show|return", help="Make a book, show it, or give back a reservation."
        ),
    ],
    path: Annotated[Path, typer.Argument(metavar="BOOK", help="One for each source of data.")],
    epsilon: Annotated[
        float | None, typer.Option(help="For init: what all stores may promise together.")
    ] = None,
    delta: Annotated[float, typer.Option(help="For init, too.")] = 0.0,
    composition: Annotated[
        str,
        typer.Option(
            help="For init: basic (sums), or concentrated (sums of squares, for promises without "
            "delta). It is fixed beforehand, as the allowance is."
        ),
    ] = "basic",
    store: Annotated[
        Path | None, typer.Option(help="For return: it was reserved for, and never made.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """``learn --book BOOK`` enters each store's promise, once, before the store is created.

    A store that would exceed the allowance is refused. What is continued costs nothing again.
    Only what was reserved for a store that never began can be given back.
    """
    if (store is None) == (action == "return"):
        raise ValueError("store must be given for 'return', and for nothing else (--store)")
    if action != "init" and (epsilon is not None or delta):
        raise ValueError("epsilon and delta are fixed when a book is made, not afterwards")
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
        state = "" if entry.opened else " (reserved: it was not created yet)"
        typer.echo(f"{since}  {entry.store}{state}: {entry.promise}")
    typer.echo(book.explain())


def _record(book: Book) -> dict[str, object]:
    entries = book.entries()
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
            for entry in entries
        ],
    }
