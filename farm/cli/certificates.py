"""`farm certificates`: create TLS certificates for a cluster."""

from __future__ import annotations

from pathlib import Path

import click

from schedfarm.farm.cli.command import command


@command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--days", type=int, help="Validity of the certificate, days; by default a year.")
@click.option("--renew", is_flag=True, help="Sign a new certificate with the existing authority.")
def certificates(folder: Path | None, days: int | None, renew: bool) -> None:
    """Create a certificate authority, a certificate, and a Dask configuration with both, in FOLDER.

    Every worker must be able to read the folder. The default is a folder in your home directory.
    `farm run` and `farm submit` create and use the same folder for clusters that they start.
    key.pem and ca-key.pem grant access to the cluster: only you can read them.
    """
    from schedfarm.cluster import certificates as made

    where = (folder or made.default_folder()).absolute()
    end = made.make(where, days=made.DAYS if days is None else days, renew=renew)
    click.echo(
        f"certificates: {where}, valid until {end:%Y-%m-%d}; to use them with dask scheduler, dask "
        f"worker and farm: export DASK_CONFIG={where / made.CONFIGURATION}"
    )
