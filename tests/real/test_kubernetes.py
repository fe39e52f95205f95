"""The manifest for Dask's operator, against the schema of the operator's own resources."""

from __future__ import annotations

import copy
import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedfarm.cluster.examples import examples
from schedfarm.cluster.launchers import LAUNCHERS
from schedfarm.cluster.spec import ClusterSpec, table_of
from tests.support.paths import DATA

SCHEMA = DATA / "daskcluster.schema.json.gz"
"""Of DaskCluster in dask-kubernetes 2026.3, without descriptions: the package itself wants versions
of others that the rest of the project cannot have beside it."""

CRD = "operator/deployment/helm/dask-kubernetes-operator/crds/daskcluster.yaml"


def strict(schema: Any) -> Any:
    """Return a schema as a server reads it that refuses unknown keys instead of dropping them."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if "properties" in found and not found.get("x-kubernetes-preserve-unknown-fields"):
        found.setdefault("additionalProperties", False)
    if found.pop("nullable", False) and "type" in found:
        found["type"] = [found["type"], "null"]
    if found.get("x-kubernetes-int-or-string"):
        found.pop("type", None)
        found.setdefault("anyOf", [{"type": "integer"}, {"type": "string"}])
    return found


def bare(schema: Any) -> Any:
    """Return a schema without its descriptions."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: bare(value)
        for key, value in schema.items()
        if not (key == "description" and isinstance(value, str))
    }


def kept() -> Any:
    return json.loads(gzip.decompress(SCHEMA.read_bytes()))


def faults(manifest: dict[str, Any]) -> list[str]:
    """Return what is wrong with a manifest."""
    from jsonschema import Draft202012Validator

    schema = strict(kept())
    # Every resource has them, and no resource's own schema describes them.
    schema["properties"] |= {"metadata": {"type": "object"}, "apiVersion": {}, "kind": {}}
    return [error.message for error in Draft202012Validator(schema).iter_errors(manifest)]


@pytest.fixture
def manifest() -> Any:
    return yaml.safe_load(examples()["kubernetes-manifest"].read_text())


def test_manifest_is_valid(manifest: dict[str, Any]) -> None:
    """Kind, version and every key are the operator's."""
    assert (manifest["kind"], manifest["apiVersion"]) == ("DaskCluster", "kubernetes.dask.org/v1")
    assert faults(manifest) == []


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (("spec", "worker"), "replica", 3),
        (("spec", "worker"), "replicas", "three"),
        (("spec", "worker", "spec", "containers", 0), "imagee", "x"),
        (("spec", "worker", "spec", "containers", 0, "resources"), "limit", {}),
    ],
)
def test_slip__is_refused(
    manifest: dict[str, Any], place: tuple[Any, ...], key: str, value: object
) -> None:
    """The check can fail: on unknown keys as on wrong values."""
    broken: Any = copy.deepcopy(manifest)
    inner = broken
    for step in place:
        inner = inner[step]
    inner[key] = value
    assert faults(broken)


def test_without_a_service__is_refused(manifest: dict[str, Any]) -> None:
    """Workers would not find the scheduler."""
    del manifest["spec"]["scheduler"]["service"]
    assert faults(manifest) == ["'service' is a required property"]


def test_selector_finds_the_scheduler(manifest: dict[str, Any]) -> None:
    """The operator labels pods with the cluster's name."""
    selector = manifest["spec"]["scheduler"]["service"]["selector"]
    assert selector["dask.org/cluster-name"] == manifest["metadata"]["name"]


def test_image_is_the_containerfiles(manifest: dict[str, Any]) -> None:
    """Scheduler and workers are of one image, and what they run is a command of it."""
    containers = [manifest["spec"][one]["spec"]["containers"][0] for one in ("scheduler", "worker")]
    assert len({one["image"] for one in containers}) == 1
    assert [one["args"][:2] for one in containers] == [["dask", "scheduler"], ["dask", "worker"]]


@pytest.mark.skipif(find_spec("dask_kubernetes") is None, reason="dask-kubernetes is elsewhere")
def test_schema_is_the_operators() -> None:
    """What is kept here is what the installed operator brings, and the options are its own."""
    import dask_kubernetes

    crd = yaml.safe_load((Path(dask_kubernetes.__file__).parent / CRD).read_text())
    version = next(one for one in crd["spec"]["versions"] if one["name"] == "v1")
    assert kept() == bare(version["schema"]["openAPIV3Schema"])
    assert ClusterSpec.of(table_of(examples()["kubernetes"])).kind == "kubernetes"
    assert "custom_cluster_spec" in LAUNCHERS["kubernetes"].options()
