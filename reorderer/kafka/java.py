"""Find the Java that runs the broker and Spark, or say in one sentence what to do about it.

``python3 -m reorderer.kafka.java`` checks it before anything is installed: standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from reorderer.errors import SetupError

SUPPORTED = (17, 21)
"""The long-term releases Spark 4.0 runs on. Java 24 took away what its Hadoop libraries call, so 25 is refused."""

_INSTALL = "install Java 17 or 21 (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17)"


@dataclass(frozen=True, slots=True)
class Java:
    """An executable `java` of a supported version."""

    path: Path
    version: int


def find_java() -> Java:
    """Return the Java of JAVA_HOME, else of the PATH, as Spark's scripts choose it; SetupError if it will not do."""
    path, origin = _locate()
    version = parse_version(_version_text(path, origin))
    if version is None:
        raise SetupError(
            f"cannot read the version of {str(path)!r} ({origin})", hint=f"{_INSTALL} and set JAVA_HOME to it"
        )
    if version not in SUPPORTED:
        raise SetupError(
            f"Java 17 or 21 is needed, but {str(path)!r} ({origin}) is Java {version}",
            hint=f"{_INSTALL} and set JAVA_HOME to it",
        )
    return Java(path, version)


def parse_version(text: str) -> int | None:
    """Return the feature version in the output of `java -version`, or None.

    >>> parse_version('openjdk version "21.0.2" 2024-01-16'), parse_version('java version "1.8.0_292"')
    (21, 8)
    >>> parse_version('openjdk version "25-ea" 2025-09-16')
    25
    """
    match = re.search(r'\bversion "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _locate() -> tuple[Path, str]:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not os.access(path, os.X_OK):
            raise SetupError(
                f"JAVA_HOME is {home!r}, but there is no executable bin/java in it",
                hint="set JAVA_HOME to a Java 17 or 21, or unset it to use the java on the PATH",
            )
        return path, "from JAVA_HOME"
    found = shutil.which("java")
    if found is None:
        raise SetupError("no Java found: JAVA_HOME is not set and there is no java on the PATH", hint=_INSTALL)
    return Path(found), "from the PATH"


def _version_text(path: Path, origin: str) -> str:
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"cannot run {str(path)!r} ({origin}): {error}", hint=_INSTALL) from error
    return done.stderr + done.stdout


def main() -> int:
    """Return 0 if a supported Java is there; print the one sentence and return 1 if not."""
    try:
        find_java()
    except SetupError as error:
        print(f"reorderer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
