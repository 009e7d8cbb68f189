"""Implement ``littlestone serve``, which serves durable runs over HTTP."""

import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from littlestone.cli.options import BookFile
from littlestone.http import app
from littlestone.http.client import start_demo
from littlestone.http.limits import MOST_CONNECTIONS
from littlestone.http.server import is_loopback, log_as_json, server
from littlestone.http.service import Role, Tokens, save_each
from littlestone.runs.book import Book


def run(
    store: Annotated[
        str,
        typer.Option(
            metavar="FOLDER|ADDRESS",
            help="The folder of all runs; created if missing. Or "
            "postgresql://user@host/db#FOLDER, with keys and marks in FOLDER.",
        ),
    ],
    token_file: Annotated[
        Path | None,
        typer.Option(help="Lines 'role run holder sha256'; created if missing, and tokens shown."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address; any but loopback needs --token-file.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="A host name of the server; repeatable.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let everyone read what is published.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Add two runs that learn from simulated reports.")
    ] = False,
    dsn: Annotated[
        str | None,
        typer.Option(
            help="Also serve the fleet in this database, as in postgresql://user@host/db."
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(help="The most connections; others get 503.", min=1)
    ] = MOST_CONNECTIONS,
    book: BookFile = None,
    adopt: Annotated[
        list[str] | None,
        typer.Option(help="A restored run; confirms that no other copy is in use; repeatable."),
    ] = None,
    tokens_to: Annotated[
        Path | None,
        typer.Option(help="Write new tokens to files in this folder instead of showing them."),
    ] = None,
    log: Annotated[
        Literal["text", "json"],
        typer.Option(help="json: a line for each request (never its data), to standard error."),
    ] = "text",
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key, in PEM.")] = None,
) -> None:
    """Owners create runs and see ledgers, writers send events, readers get what is published.

    Without a token file, tokens are created for this start and shown once. SIGHUP reads the token
    file again.
    """
    if token_file is None and not is_loopback(host):
        raise ValueError(f"host must be loopback without --token-file, got {host!r}; give one")
    made: dict[Role, str] = {}
    if token_file is not None and token_file.exists():
        tokens = Tokens.from_file(token_file, open_reading=public)
    else:
        tokens, made = Tokens.fresh(open_reading=public)
    if demo and not made:
        raise ValueError("demo needs an owner's token: omit --token-file, or name a new file")
    fleet = None
    if dsn is not None:
        if find_spec("psycopg") is None:
            raise ValueError("dsn needs psycopg: run pip install 'littlestone[fleet]'")
        from littlestone.http.fleet_routes import FleetRoutes

        fleet = FleetRoutes(dsn)
    if log == "json":
        log_as_json()
    application = app.application(
        store,
        tokens,
        hosts=(host, *(name or ())),
        fleet=fleet,
        book=None if book is None else Book(book),
        adopt=adopt or (),
    )
    service = server(
        application,
        host=host,
        port=port,
        certificate=tls_cert,
        private_key=tls_key,
        connections=connections,
    )
    # The address and the folder are locked, so tokens may be shown and used.
    if made:
        if tokens_to is not None:  # first: a saved hash of a lost token would lock everyone out
            save_each(made, tokens_to)
        if token_file is not None:
            tokens.save(token_file)
        if tokens_to is None:
            typer.echo("tokens, shown once:")
            for role, token in made.items():
                typer.echo(f"{role:>8}  {token}")
    scheme = "http" if tls_cert is None else "https"
    url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{service.port}"
    typer.echo(f"{url}  (a page for people, OpenAPI at /openapi.json; Ctrl-C stops)")
    signal.signal(signal.SIGHUP, lambda *_: application.state.service.reread(token_file))
    if demo:
        start_demo(url, made[Role.OWNER])
    service.run()
