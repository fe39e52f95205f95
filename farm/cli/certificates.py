"""`farm certificates`: what lets a farm's own programs in, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import click

from schedfarm.farm.cli.command import command


@command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--days", type=int, help="Validity of the certificate; by default a year.")
@click.option(
    "--renew", is_flag=True, help="Have the authority that is there sign a new certificate."
)
def certificates(folder: Path | None, days: int | None, renew: bool) -> None:
    """Make the certificates of a farm in FOLDER, and Dask's configuration that names them.

    The folder has to be one that every worker sees; by default it is schedfarm's own in your
    home, where `farm run` and `farm submit` look for it, and make it for the clusters that they
    start. Whoever can read key.pem or ca-key.pem is let in: both stay readable for you alone.
    """
    from schedfarm.cluster import certificates as made

    where = (folder or made.default_folder()).absolute()
    end = made.make(where, days=made.DAYS if days is None else days, renew=renew)
    click.echo(
        f"certificates: {where}, valid until {end:%Y-%m-%d}; 'export "
        f"DASK_CONFIG={where / made.CONFIGURATION}' has dask scheduler, dask worker and farm use "
        "them"
    )
