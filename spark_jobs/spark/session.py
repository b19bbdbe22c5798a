"""Starts Spark: its Kafka connector, its state store, and its log kept off the terminal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.errors import SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_RELEASES = (17, 21)

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # The smallest of the partitions' watermarks is the query's; the largest would close windows over missing tuples.
    "spark.sql.streaming.multipleWatermarkPolicy": "min",
    "spark.sql.streaming.stopTimeout": "30s",
}
"""What every session has unless the user sets it otherwise."""

_JAVA = "spark.driver.extraJavaOptions"

QUICK_START = {_JAVA: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "spark.sql.codegen.wholeStage": "false"}
"""For runs of seconds, such as tests: less compilation, and slower once it would have paid."""

LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


def start(name: str, log: Path, *, master: str = "local[*]", settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a new session whose JVM writes everything it has to say to `log`."""
    check_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    log.parent.mkdir(parents=True, exist_ok=True)
    log4j = log.with_suffix(".log4j2.properties")
    log4j.write_text(LOG4J, encoding="utf-8")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name).master(master)
    chosen = {**SETTINGS, **connector(cache_folder()), **(settings or {})}
    chosen[_JAVA] = f"-Dlog4j2.configurationFile={log4j.resolve().as_uri()} {chosen.get(_JAVA, '')}".strip()
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with _output_to(log):
        return builder.getOrCreate()


def connector(cache: Path) -> dict[str, str]:
    """Return the setting that gives Spark its Kafka connector: the cached jars, or else a coordinate to download.

    Jars that Spark brings itself are left out: two copies of one class in two class loaders do not meet.
    """
    import pyspark

    own = {_artifact(jar) for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    jars = sorted(jar for jar in (cache / "jars" / "spark-kafka").glob("*.jar") if _artifact(jar) not in own)
    if jars:
        return {"spark.jars": ",".join(str(jar.resolve()) for jar in jars)}
    return {"spark.jars.packages": f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"}


def cache_folder() -> Path:
    """Return where set-up keeps the jars: $REORDERER_CACHE, else .cache of this checkout, else the user's own."""
    named = os.environ.get("REORDERER_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file() and (root / "Makefile").is_file():
        return root / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reorderer"


def check_java() -> None:
    """Return if a Java that Spark runs on is found; else raise with the fix."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    fix = "install Java 17 or 21 (Debian: apt install openjdk-17-jre-headless), or point JAVA_HOME at one"
    if java is None:
        raise SetupError(f"no Java found{f' in JAVA_HOME {home!r}' if home else ''}", hint=fix)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    release = java_release(told)
    if release not in JAVA_RELEASES:
        raise SetupError(f"Spark needs Java 17 or 21, {java!r} is {release or 'unknown'}", hint=fix)


def java_release(told: str) -> int | None:
    """Return the release that `java -version` tells of.

    >>> java_release('openjdk version "17.0.15" 2025-04-15'), java_release('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else None


def _artifact(jar: Path) -> str:
    """Return the name of a jar without its version.

    >>> _artifact(Path("spark-tags_2.13-4.0.0.jar"))
    'spark-tags_2.13'
    """
    return re.sub(r"-\d[^-]*(-[A-Za-z]\w*)?$", "", jar.stem)


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Send what child processes started inside write to their standard output and error to `log`."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        os.close(kept[0])
        os.close(kept[1])
