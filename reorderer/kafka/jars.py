"""Fetch the JVM's jars once: the Kafka broker, and Spark's Kafka connector.

``python -m reorderer.kafka.jars kafka|spark-connector DIR`` leaves the complete set in DIR, or DIR as it was. The work
is done by the Ivy that pyspark bundles, which checks each file against the SHA-1 its repository publishes. A broken
download resumes from its scratch folder beside DIR; a lock keeps two fetches of the same DIR apart.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from reorderer.errors import SetupError
from reorderer.kafka.java import find_java
from reorderer.watchdog import Guarded

KAFKA_VERSION = "4.3.1"
MIRROR = "REORDERER_MAVEN_URL"
"""The variable that names a mirror of Maven Central, which Ivy knows by itself."""

_READY = ".ready"

_SETTINGS = """<ivysettings>
  <settings defaultResolver="maven"/>
  <timeout-constraints>
    <timeout-constraint name="patience" connectionTimeout="20000" readTimeout="60000"/>
  </timeout-constraints>
  <resolvers><ibiblio name="maven" m2compatible="true" {root} timeoutConstraint="patience"/></resolvers>
</ivysettings>
"""


@dataclass(frozen=True, slots=True)
class Jar:
    """A published Maven module."""

    organisation: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}"


def cache_dir() -> Path:
    """Return where downloads go: $REORDERER_CACHE, else .cache of this checkout, else the user's cache folder."""
    named = os.environ.get("REORDERER_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file() and (root / "Makefile").is_file():
        return root / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reorderer"


def kafka_jars() -> Path:
    """Return the folder of the broker's jars, fetched if they are not there yet."""
    target = cache_dir() / "jars" / "kafka"
    fetch("kafka", target)
    return target


def modules_of(bundle: str) -> tuple[Jar, ...]:
    """Return the modules that `bundle` is made of; what they depend on comes with them."""
    if bundle == "kafka":
        # Kafka leaves the choice of a logger to its user; without one a failed start says nothing.
        return (Jar("org.apache.kafka", "kafka_2.13", KAFKA_VERSION), Jar("org.slf4j", "slf4j-simple", "1.7.36"))
    version = importlib.metadata.version("pyspark")
    return (Jar("org.apache.spark", "spark-sql-kafka-0-10_2.13", version),)


def is_ready(bundle: str, target: Path) -> bool:
    """Tell whether `target` holds the complete bundle in the versions wanted now."""
    try:
        return (target / _READY).read_text() == _manifest(bundle)
    except OSError:
        return False


def fetch(bundle: str, target: Path) -> None:
    """Make `target` hold the complete bundle; nothing is downloaded if it does already."""
    if is_ready(bundle, target):
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target):
            if not is_ready(bundle, target):
                _fetch(bundle, target)
    except OSError as error:
        raise SetupError(
            f"cannot write the cache {str(target)!r}: {error.strerror or error}",
            hint="make it writable, or name another folder with REORDERER_CACHE",
        ) from error


def _manifest(bundle: str) -> str:
    return "".join(f"{module}\n" for module in modules_of(bundle))


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    with (target.parent / f".{target.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"waiting for another process that fetches {target}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(bundle: str, target: Path) -> None:
    started = time.monotonic()
    scratch = target.parent / f".{target.name}.partial"
    staged = scratch / "staged"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    _say(f"fetching {_manifest(bundle).split()[0]} and what it needs into {target}")
    _run_ivy(modules_of(bundle), scratch, staged)
    if bundle == "spark-connector":
        _leave_out_what_pyspark_has(staged)
    jars = list(staged.glob("*.jar"))
    (staged / _READY).write_text(_manifest(bundle))
    _replace(target, staged, scratch / "old")
    size = sum(jar.stat().st_size for jar in target.glob("*.jar")) / 1e6
    shutil.rmtree(scratch, ignore_errors=True)
    _say(f"fetched {len(jars)} jars, {size:.0f} MB, in {time.monotonic() - started:.0f} s")


def _replace(target: Path, staged: Path, old: Path) -> None:
    """Put `staged` in the place of `target`; both renames stay on one file system."""
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    staged.rename(target)


def _leave_out_what_pyspark_has(staged: Path) -> None:
    """Spark's own jars come first on its class path: a second version of one would only be in the way."""
    bundled = {_artifact(jar) for jar in (_pyspark_dir() / "jars").glob("*.jar")}
    for jar in staged.glob("*.jar"):
        if _artifact(jar) in bundled:
            jar.unlink()


def _artifact(jar: Path) -> str:
    return re.sub(r"-\d[^/]*\.jar$", "", jar.name)


def _pyspark_dir() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupError("pyspark is not installed, and its Ivy fetches the jars", hint="pip install reorderer")
    return Path(spec.origin).parent


def _run_ivy(modules: Sequence[Jar], scratch: Path, staged: Path) -> None:
    """Retrieve the modules and all they need at run time into `staged`."""
    mirror = os.environ.get(MIRROR, "")
    settings, ivy_file, log = scratch / "ivysettings.xml", scratch / "ivy.xml", scratch / "ivy.log"
    settings.write_text(_SETTINGS.format(root=f"root={quoteattr(mirror)}" if mirror else ""))
    ivy_file.write_text(_ivy_module(modules))
    command = [
        str(find_java().path),
        *_proxy_options(),
        f"-Divy.home={scratch}",
        *("-jar", str(next((_pyspark_dir() / "jars").glob("ivy-*.jar")))),
        *("-settings", str(settings), "-ivy", str(ivy_file), "-cache", str(scratch / "cache"), "-confs", "default"),
        *("-retrieve", f"{staged}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    log.unlink(missing_ok=True)
    code = Guarded(command, log=log).wait()
    missing = [str(module) for module in modules if not (staged / f"{module.name}-{module.version}.jar").is_file()]
    if code != 0 or missing:
        raise _failure(mirror or "Maven Central", log)


def _failure(repository: str, log: Path) -> SetupError:
    text = log.read_text(errors="replace")
    if re.search(r"Server access error|UnknownHost|Connection refused|timed out|Network is unreachable", text):
        hint = f"check the network and proxy, or name a mirror with {MIRROR}, and run it again (log: {log})"
        return SetupError(f"cannot download the jars: {repository!r} does not answer", hint=hint)
    return SetupError(f"cannot download the jars from {repository!r}", hint=f"Ivy's log is {str(log)!r}")


def _ivy_module(modules: Sequence[Jar]) -> str:
    wanted = "".join(
        f'<dependency org="{jar.organisation}" name="{jar.name}" rev="{jar.version}" conf="default->default"/>'
        for jar in modules
    )
    return (
        '<ivy-module version="2.0"><info organisation="reorderer" module="jars"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{wanted}</dependencies></ivy-module>'
    )


def _proxy_options() -> list[str]:
    """Tell Java of the proxies that pip obeys (http_proxy and https_proxy), which it would not look for."""
    options = []
    for scheme, url in urllib.request.getproxies().items():
        proxy = urllib.parse.urlsplit(url if "//" in url else f"//{url}")
        if scheme in ("http", "https") and proxy.hostname:
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    return options


def _say(line: str) -> None:
    print(f"[jars] {line}", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch the named bundle into the named folder; print one sentence and return 1 if that cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m reorderer.kafka.jars", description="Fetch jars once into a folder."
    )
    parser.add_argument("bundle", choices=("kafka", "spark-connector"), help="what to fetch")
    parser.add_argument("target", type=Path, metavar="DIR", help="where the jars shall be")
    args = parser.parse_args(argv)
    try:
        fetch(args.bundle, args.target.absolute())
    except SetupError as error:
        print(f"reorderer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
