"""The command ``littlestone serve`` puts durable runs behind HTTP."""

import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from littlestone.serve import demo as demonstration
from littlestone.serve.connections import MOST_CONNECTIONS
from littlestone.serve.server import is_loopback, server
from littlestone.serve.tokens import Role, Tokens, described
from littlestone.service.promises.book import Book


def run(
    store: Annotated[Path, typer.Option(help="The folder of all runs; made if it is not there.")],
    token_file: Annotated[
        Path | None,
        typer.Option(help="Lines 'role run holder sha256'; made, and tokens shown, if missing."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address; any but loopback needs --token-file.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="A name by which the server is called; repeatable.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Everybody may read what is published.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="With two runs that learn from simulated reports.")
    ] = False,
    dsn: Annotated[
        str | None,
        typer.Option(
            help="Serve the fleet in this database, too, as in postgresql://user@host/db."
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(help="At most so many at once; others get 503.", min=1)
    ] = MOST_CONNECTIONS,
    book: Annotated[
        Path | None,
        typer.Option(help="The budget book of the data; a run that exceeds it is refused."),
    ] = None,
    adopt: Annotated[
        list[str] | None,
        typer.Option(help="A restored run: you state that no other copy went on; repeatable."),
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key, in PEM.")] = None,
) -> None:
    """Owners create runs and see ledgers, writers send events, readers get what is published.

    Without a token file tokens are made for this start and shown once. SIGHUP reads the token file
    again.
    """
    if token_file is None and not is_loopback(host):
        raise ValueError(f"host must be loopback without --token-file, got {host!r}")
    made: dict[Role, str] = {}
    if token_file is not None and token_file.exists():
        tokens = Tokens.from_file(token_file, open_reading=public)
    else:
        tokens, made = Tokens.fresh(open_reading=public)
    if demo and not made:
        raise ValueError("demo needs an owner's token: leave out --token-file, or name a new one")
    fleet = None
    if dsn is not None:
        if find_spec("psycopg") is None:
            raise ValueError("dsn needs psycopg: pip install 'littlestone[fleet]' brings it")
        from littlestone.serve.routes.fleet_desk import FleetDesk

        fleet = FleetDesk(dsn)
    service = server(
        store,
        tokens,
        host=host,
        port=port,
        certificate=tls_cert,
        private_key=tls_key,
        hosts=tuple(name or ()),
        fleet=fleet,
        connections=connections,
        book=None if book is None else Book(book),
        adopt=adopt or (),
    )
    # From here on the address and the folder are ours: now tokens may be shown, and sent there.
    if made:
        if token_file is not None:
            tokens.save(token_file)
        typer.echo("\n".join(["tokens, shown this once:", *described(made)]))
    scheme = "http" if tls_cert is None else "https"
    url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{service.port}"
    typer.echo(f"{url}  (a page for people, OpenAPI at /openapi.json; Ctrl-C stops)")
    signal.signal(signal.SIGHUP, lambda *_: service.reread(token_file))
    if demo:
        demonstration.started(url, made[Role.OWNER])
    service.run()
