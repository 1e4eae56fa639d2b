"""A made-up fleet of any size, the same for the same seed.

What matters for the time that selection takes is kept as in life. A few architectures have most of the models and of
the runtimes. A namespace's services use a dozen models. A runtime serves one architecture and a range of sizes; some
are multi-node, some inherit, some say which accelerators they need. A third of the services name their runtime, and
most of those names fit. A quarter ask for a deployment mode. What runs mostly is what was asked for. Manifests
are as long as those of OME's own catalog, and a few hold mistakes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace

from bench.manifests import (
    GPUS,
    KINDS_OF_MODES,
    MODES,
    Manifest,
    a_metadata,
    a_model,
    a_multi_node_component,
    a_router,
    a_runtime,
    a_service,
    a_single_node_component,
    a_workload,
    an_accelerator_class,
    an_entry,
)

__all__ = ["Size", "changed", "manifests"]

SIZES = ("0.5B", "1.5B", "3B", "7B", "8B", "13B", "14B", "32B", "70B", "72B", "123B", "235B", "405B", "671B")
RANGES = (("0.1B", "4B"), ("1B", "15B"), ("7B", "34B"), ("30B", "80B"), ("65B", "250B"), ("200B", "1T"))
ARCHITECTURES = tuple(f"Family{number:02}ForCausalLM" for number in range(40))
COMMON = tuple(1 / (place + 2) for place in range(len(ARCHITECTURES)))
"""How often each architecture is met: the first one is 20 times as frequent as the last."""
FAVOURITES = 12
MISTAKE = 77
"""The place of an object that can't be read among the others of its kind."""
HUGE = 200
"""Billions of parameters that one node doesn't hold."""


@dataclass(frozen=True)
class Size:
    """How many objects of each kind."""

    services: int = 10_000
    runtimes: int = 1_000
    models: int = 500
    namespaces: int = 50

    def part(self, divisor: int) -> Size:
        """Fewer of everything."""
        return Size(*(max(1, count // divisor) for count in astuple(self)))

    def tenth(self) -> Size:
        """A tenth of the services, on the same runtimes and models: they are the first of the whole fleet's."""
        return replace(self, services=max(1, self.services // 10))


def manifests(size: Size, seed: int = 1) -> list[Manifest]:
    """Every object of the fleet, as an API server would give it."""
    return list(_Making(size, random.Random(seed)).everything())


def changed(manifest: Manifest) -> Manifest:
    """An object as it is after somebody changed what selection looks at: a priority, a size, a mode."""
    metadata = {**manifest["metadata"], "resourceVersion": "999999999", "generation": 2}
    spec = dict(manifest["spec"])
    if "supportedModelFormats" in spec:
        spec["supportedModelFormats"] = [{**entry, "priority": 9} for entry in spec["supportedModelFormats"]]
    elif "modelParameterSize" in spec:
        spec["modelParameterSize"] = "8B" if spec["modelParameterSize"] != "8B" else "70B"
    else:
        asked = metadata.get("annotations", {})
        mode = "MultiNode" if asked.get("ome.io/deploymentMode") != "MultiNode" else "RawDeployment"
        metadata["annotations"] = {**asked, "ome.io/deploymentMode": mode}
    return {**manifest, "metadata": metadata, "spec": spec}


@dataclass
class _Making:
    """What is decided once while a fleet is made."""

    size: Size
    dice: random.Random
    namespaces: list[str] = field(init=False)
    by_architecture: dict[str, list[Manifest]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.namespaces = [f"team-{number:02}" for number in range(self.size.namespaces)]

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def architectures(self, count: int) -> list[str]:
        return list(dict.fromkeys(self.dice.choices(ARCHITECTURES, COMMON, k=count)))

    def everything(self) -> Iterator[Manifest]:
        yield from (an_accelerator_class(name) for name in GPUS)
        runtimes = [self.runtime(number) for number in range(self.size.runtimes)]
        yield from runtimes
        models = [self.model(number) for number in range(self.size.models)]
        yield from models
        clustered = [each for each in models if each["kind"] == "ClusterBaseModel"] or models
        used = {
            namespace: self.dice.sample(clustered, min(FAVOURITES, len(clustered)))
            + [each for each in models if each["metadata"].get("namespace") == namespace]
            for namespace in self.namespaces
        }
        for number in range(self.size.services):
            namespace = self.namespaces[number % len(self.namespaces)]
            service, mode = self.service(number, namespace, self.dice.choice(used[namespace]))
            yield service
            yield from self.workloads(service, mode)

    def runtime(self, number: int) -> Manifest:
        smallest, largest = self.dice.choice(RANGES)
        many = self.chance(0.7 if _billions(smallest) >= HUGE else 0.03)
        engine = a_multi_node_component(self.dice) if many else a_single_node_component(self.dice)
        if self.chance(0.1):
            declared = {"ome.io/deploymentMode": self.dice.choice(MODES[1:] if many else MODES[:1])}
            engine["annotations"] = {**engine["annotations"], **declared}
        selectable = self.chance(0.6)
        served = self.architectures(self.dice.choice((1, 1, 1, 2, 4)))
        spec: Manifest = {
            "disabled": self.chance(0.03),
            "supportedModelFormats": [
                an_entry(
                    architecture,
                    framework=f"4.{self.dice.choice((46, 50, 54, 54))}.0",
                    quantization="fp8" if self.chance(0.2) else "",
                    auto_select=selectable,
                    priority="high" if number % 500 == MISTAKE else self.dice.randint(1, 3),
                )
                for architecture in served
            ],
            "protocolVersions": ["openAI"],
            "modelSizeRange": {"min": smallest, "max": largest},
            "engineConfig": engine,
        }
        if self.chance(0.06):
            spec["decoderConfig"] = a_single_node_component(self.dice)
        if self.chance(0.4):
            spec["routerConfig"] = a_router()
        if self.chance(0.3):
            spec["acceleratorRequirements"] = {"acceleratorClasses": self.dice.sample(GPUS, self.dice.randint(1, 3))}
        namespace = self.dice.choice(self.namespaces) if self.chance(0.1) else ""
        made = a_runtime(a_metadata(number, f"runtime-{number:04}", namespace), spec)
        if number > 50 and self.chance(0.08):
            parent = f"runtime-{self.dice.randrange(20):04}"
            made["metadata"]["annotations"] = {"ome.io/inherit-from": parent}
        for architecture in served if not namespace else ():
            self.by_architecture.setdefault(architecture, []).append(made)
        return made

    def model(self, number: int) -> Manifest:
        namespace = self.dice.choice(self.namespaces) if self.chance(0.1) else ""
        return a_model(
            a_metadata(number, f"model-{number:03}", namespace),
            framework=f"4.{self.dice.randint(38, 52)}.0",
            architecture=self.architectures(1)[0],
            quantization="fp8" if self.chance(0.15) else "",
            size=self.dice.choice(SIZES),
        )

    def service(self, number: int, namespace: str, model: Manifest) -> tuple[Manifest, str]:
        """A service, and the mode that it was started in."""
        metadata = a_metadata(number, f"service-{number:05}", namespace)
        mode = self.dice.choice(MODES) if self.chance(0.25) else ""
        if mode:
            metadata["annotations"] = {"ome.io/deploymentMode": mode}
        named = self.named(model) if self.chance(0.3) else None
        spec: Manifest = {
            "model": {"name": model["metadata"]["name"], "kind": model["kind"], "apiGroup": "ome.io"},
            "engine": {"minReplicas": "two" if number % 1000 == MISTAKE else 1, "maxReplicas": self.dice.randint(1, 4)},
        }
        if named is not None:
            spec["runtime"] = {"name": named["metadata"]["name"], "kind": named["kind"], "apiGroup": "ome.io"}
        if self.chance(0.08):
            spec["decoder"] = {"minReplicas": 1, "maxReplicas": 2}
        if self.chance(0.1):
            spec["router"] = {"minReplicas": 1, "maxReplicas": 1}
        if self.chance(0.1):
            spec["acceleratorSelector"] = {"acceleratorClass": self.dice.choice(GPUS)}
        many = _billions(model["spec"]["modelParameterSize"]) >= HUGE
        return a_service(metadata, spec), mode or ("OMENative" if many else "RawDeployment")

    def named(self, model: Manifest) -> Manifest | None:
        """A runtime that somebody would name for the model: mostly one that fits it in architecture and size."""
        architecture = self.architectures(1)[0] if self.chance(0.1) else model["spec"]["modelArchitecture"]
        found = self.by_architecture.get(architecture, [])
        return self.dice.choice([each for each in found if _fits(model, each)] or found or [None])

    def workloads(self, service: Manifest, mode: str) -> Iterator[Manifest]:
        if self.chance(0.1):
            return
        for component in ("engine", "decoder", "router"):
            if component in service["spec"]:
                runs = "RawDeployment" if component == "router" else mode
                runs = self.dice.choice(MODES) if self.chance(0.03) else runs
                yield a_workload(service, component, *KINDS_OF_MODES[runs])


def _billions(size: str) -> float:
    return float(size[:-1]) * (1000 if size.endswith("T") else 1)


def _fits(model: Manifest, runtime: Manifest) -> bool:
    bounds = runtime["spec"]["modelSizeRange"]
    return _billions(bounds["min"]) <= _billions(model["spec"]["modelParameterSize"]) <= _billions(bounds["max"])
