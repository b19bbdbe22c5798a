"""Jars are fetched once, whole or not at all, by the real Ivy; here from a repository served on the loopback."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

from reorderer.errors import SetupError
from reorderer.kafka import jars
from tests.processes import run_module

POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{name}</artifactId>
<version>1.0</version><dependencies>{dependencies}</dependencies></project>"""
NEEDS = "<dependency><groupId>org.example</groupId><artifactId>{name}</artifactId><version>1.0</version></dependency>"


@dataclass
class Repository:
    """A Maven repository of two modules, `app` and the `lib` it needs, and what was asked of it."""

    url: str
    files: dict[str, bytes]
    asked: list[str] = field(default_factory=list)

    def add(self, name: str, jar: bytes, needs: str = "") -> None:
        """Publish a module with its checksums."""
        pom = POM.format(name=name, dependencies=NEEDS.format(name=needs) if needs else "").encode()
        for ending, content in (("pom", pom), ("jar", jar)):
            path = f"/org/example/{name}/1.0/{name}-1.0.{ending}"
            self.files[path] = content
            self.files[f"{path}.sha1"] = hashlib.sha1(content).hexdigest().encode()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A repository that `jars` fetches from, under the bundle name `kafka`."""
    served = Repository("", {})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            self.wfile.write(self.begin())

        def do_HEAD(self) -> None:
            self.begin()

        def begin(self) -> bytes:
            content = served.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            return content or b""

        def log_message(self, *_: object) -> None:
            pass

    archive = tmp_path / "some.jar"
    with zipfile.ZipFile(archive, "w") as jar:
        jar.writestr("content", "x" * 1000)
    served.add("app", archive.read_bytes(), needs="lib")
    served.add("lib", archive.read_bytes())
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        served.url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setenv("REORDERER_MAVEN_URL", served.url)
        monkeypatch.setattr(jars, "modules_of", lambda _: (jars.Jar("org.example", "app", "1.0"),))
        yield served
        server.shutdown()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_bundle_comes_with_all_it_needs_and_only_once(repository: Repository, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "app"
    jars.fetch("kafka", target)
    assert names(target) == [".ready", "app-1.0.jar", "lib-1.0.jar"]
    assert names(target.parent) == [".app.lock", "app"]
    repository.asked.clear()
    jars.fetch("kafka", target)
    assert repository.asked == []


def test_a_file_that_does_not_match_its_checksum_is_refused(repository: Repository, tmp_path: Path) -> None:
    repository.files["/org/example/lib/1.0/lib-1.0.jar"] = b"not what was published"
    target = tmp_path / "cache" / "app"
    with pytest.raises(SetupError, match=r"cannot download the jars from .* Ivy's log is"):
        jars.fetch("kafka", target)
    assert not target.exists()


def test_a_fetch_that_failed_midway_goes_on_where_it_stopped(repository: Repository, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "app"
    withheld = repository.files.pop("/org/example/lib/1.0/lib-1.0.jar")
    with pytest.raises(SetupError):
        jars.fetch("kafka", target)
    assert not target.exists()
    repository.files["/org/example/lib/1.0/lib-1.0.jar"] = withheld
    repository.asked.clear()
    jars.fetch("kafka", target)
    assert names(target) == [".ready", "app-1.0.jar", "lib-1.0.jar"]
    assert "/org/example/app/1.0/app-1.0.jar" not in repository.asked


def test_other_versions_in_the_folder_are_replaced_as_a_whole(repository: Repository, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "app"
    target.mkdir(parents=True)
    (target / "app-0.9.jar").touch()
    (target / ".ready").write_text("org.example:app:0.9\n")
    jars.fetch("kafka", target)
    assert names(target) == [".ready", "app-1.0.jar", "lib-1.0.jar"]


def test_two_fetches_at_once_download_once(repository: Repository, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "app"
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: jars.fetch("kafka", target), range(2)))
    assert repository.asked.count("/org/example/lib/1.0/lib-1.0.jar") == 1
    assert names(target) == [".ready", "app-1.0.jar", "lib-1.0.jar"]


def test_without_a_network_one_sentence_says_so(tmp_path: Path) -> None:
    settings = {"REORDERER_MAVEN_URL": "http://127.0.0.1:9/"}
    done = run_module("reorderer.kafka.jars", "spark-connector", str(tmp_path / "jars"), env=settings)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "reorderer: cannot download the jars: 'http://127.0.0.1:9/' does not answer;"
    )
    assert not (tmp_path / "jars").exists()


def test_an_unwritable_cache_is_one_sentence_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_module("reorderer.kafka.jars", "kafka", str(tmp_path / "file" / "jars"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot write the cache" in done.stderr
    assert "REORDERER_CACHE" in done.stderr


def test_the_connectors_version_is_that_of_the_installed_pyspark() -> None:
    (module,) = jars.modules_of("spark-connector")
    assert str(module) == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')}"


def test_the_cache_is_the_named_folder_else_the_checkouts_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REORDERER_CACHE", str(tmp_path))
    assert jars.cache_dir() == tmp_path
    monkeypatch.delenv("REORDERER_CACHE")
    assert jars.cache_dir() == Path(jars.__file__).resolve().parents[2] / ".cache"


def test_an_installed_package_uses_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REORDERER_CACHE", raising=False)
    monkeypatch.setattr(jars, "__file__", str(tmp_path / "site-packages" / "reorderer" / "kafka" / "jars.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jars.cache_dir() == tmp_path / "xdg" / "reorderer"
