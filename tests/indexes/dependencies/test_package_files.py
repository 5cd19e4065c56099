"""A package gets its limits and nothing else, whatever it consists of."""

import contextlib
import os
import struct
import zipfile
from pathlib import Path

import pytest

from dowse.indexes.dependencies import package_files
from dowse.indexes.dependencies.installed_packages import find_packages
from dowse.indexes.dependencies.package_files import JarFiles, PackageFiles, package_settings
from dowse.indexes.dependencies.package_index import PackageIndex
from dowse.indexes.dependencies.package_types import Package
from dowse.indexes.reference_lookup import references_now
from dowse.searching.references.reference_search import ReferenceOptions
from dowse.settings import Settings
from dowse.types import Entry, Reason, Verdict
from tests.indexes.dependencies import environments
from tests.sample_data import write_tree

SETTINGS = package_settings(Settings())


def files_of(package: Package) -> PackageFiles | JarFiles:
    return (JarFiles if package.root.suffix == ".jar" else PackageFiles)(package, SETTINGS)


def reason_of(found: object) -> Reason | None:
    assert isinstance(found, Verdict)
    return found.reason


def paths_of(package: Package) -> list[str]:
    return [one.path for one in files_of(package).entries() if isinstance(one, Entry)]


def test_a_distribution_has_the_files_that_it_lists_and_none_of_others(tmp_path: Path) -> None:
    (package,) = find_packages(environments.python_project(tmp_path)).packages
    assert paths_of(package) == [
        "tinyhttp-1.2.0.dist-info/METADATA",
        "tinyhttp/__init__.py",
        "tinyhttp/_vendor/retry.py",
    ]
    assert reason_of(files_of(package).entry("six.py")) is Reason.EXCLUDED
    assert reason_of(files_of(package).entry("../../../../shop.py")) is Reason.OUTSIDE


def test_distributions_that_share_a_namespace_have_their_own_parts_of_it(tmp_path: Path) -> None:
    root = environments.python_project(tmp_path)
    site = environments.SITE
    write_tree(
        root,
        {
            "pyproject.toml": '[project]\ndependencies = ["acme-cloud-disk"]\n',
            f"{site}/acme/cloud/disk/__init__.py": "def mount(): ...\n",
            f"{site}/acme/cloud/net/__init__.py": "def route(): ...\n",
            f"{site}/acme_cloud_disk-1.0.dist-info/RECORD": "acme/cloud/disk/__init__.py,,\n",
        },
    )
    (package,) = find_packages(root).packages
    assert paths_of(package) == ["acme/cloud/disk/__init__.py"]


def test_what_is_denied_in_a_project_is_denied_in_a_package(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "package.json": "{}", ".env": "TOKEN=1", "id_rsa": "x", ".npmrc": "token", "node_modules/inner/index.js": "x",
            "dist/index.js": "exports.run = 1;\n", "dist/index.js.map": "{}", "certs/server.pem": "x", ".git/config": "x",
            "key.txt": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
        },
    )  # fmt: skip
    package = Package("javascript", "evil", "1.0.0", tmp_path)
    assert paths_of(package) == ["dist/index.js", "key.txt", "package.json"]
    assert reason_of(files_of(package).read_path("key.txt")) is Reason.DENIED


def test_links_out_of_a_package_are_not_followed(tmp_path: Path) -> None:
    secret = write_tree(tmp_path / "elsewhere", {"secret.py": "PASSWORD = 1\n"})
    root = write_tree(tmp_path / "evil", {"index.js": "1;\n"})
    (root / "file.py").symlink_to(secret / "secret.py")
    (root / "folder").symlink_to(secret)
    package = Package("javascript", "evil", "1.0.0", root)
    assert paths_of(package) == ["index.js"]
    for path in ("file.py", "folder/secret.py", "../elsewhere/secret.py"):
        assert isinstance(files_of(package).read_path(path), Verdict)


def test_a_package_with_too_many_or_too_large_files_is_read_up_to_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path, {f"src/{number:03}.py": "x = 1\n" for number in range(40)})
    package = Package("javascript", "evil", "1.0.0", root)
    monkeypatch.setattr(package_files, "MAX_FILES", 10)
    assert len(paths_of(package)) == 10
    monkeypatch.setattr(package_files, "MAX_FILES", 100)
    monkeypatch.setattr(package_files, "MAX_BYTES", 30)
    assert len(paths_of(package)) == 5
    monkeypatch.setattr(package_files, "MAX_BYTES", 10_000)
    monkeypatch.setattr(package_files, "MAX_WALKED", 7)
    assert len(paths_of(package)) == 7


def test_a_source_jar_is_read_without_unpacking_it(tmp_path: Path) -> None:
    package = find_packages(environments.java_project(tmp_path, Path.home())).packages[0]
    files = files_of(package)
    assert paths_of(package) == ["org/acme/Json.java"]
    assert b"Reads JSON" in files.read_bytes("org/acme/Json.java")[0]
    assert isinstance(files.entry("org/acme"), Verdict)
    with pytest.raises(FileNotFoundError):
        files.read_bytes("../../../etc/passwd")


def test_references_of_a_source_jar_are_found(tmp_path: Path) -> None:
    """No path of a jar is that of a file, so that none would be shown."""
    source = (
        "class Peel {\n  static int peel(int apple) { return apple; }\n  int twice() { return peel(peel(1)); }\n}\n"
    )
    jar = environments.write_jar(tmp_path / "fruit-1-sources.jar", {"org/acme/Peel.java": source})
    with contextlib.closing(PackageIndex(Package("java", "org.acme:fruit", "1", jar), None)) as index:
        index.update()
        found = references_now(index, "peel", ReferenceOptions()).found
    assert [(place.path, place.line) for place in found.definitions] == [("org/acme/Peel.java", 2)]
    assert [(place.path, place.line) for place in found.uses] == [("org/acme/Peel.java", 3)]


def test_members_of_a_jar_that_lead_elsewhere_or_explode_are_left_out(tmp_path: Path) -> None:
    names = {
        "../../evil.java": "x",
        "/etc/evil.java": "x",
        "a/../../evil.java": "x",
        ".env": "x",
        "Good.java": "class Good {}\n",
    }
    jar = environments.write_jar(tmp_path / "evil-1-sources.jar", {**names, "Bomb.java": "A" * 30_000_000})
    package = Package("java", "evil:evil", "1", jar)
    assert paths_of(package) == ["Good.java"]
    assert reason_of(files_of(package).read_path("Bomb.java")) is Reason.TOO_LARGE


def test_a_member_that_lies_about_its_size_is_not_read(tmp_path: Path) -> None:
    jar = environments.write_jar(tmp_path / "evil-1-sources.jar", {"Bomb.java": "A" * 30_000_000})
    data = bytearray(jar.read_bytes())
    for at in (data.find(b"PK\x01\x02") + 24, 22):
        struct.pack_into("<I", data, at, 100)
    jar.write_bytes(data)
    files = files_of(Package("java", "evil:evil", "1", jar))
    with pytest.raises(OSError, match="cannot be unpacked"):
        files.read_bytes("Bomb.java")


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + b"\0" * 8 + b"\xff" * 8 + b"\0\0", b"x" * 100_000])
def test_a_damaged_jar_has_no_files(tmp_path: Path, content: bytes) -> None:
    jar = tmp_path / "evil-1-sources.jar"
    jar.write_bytes(content)
    assert paths_of(Package("java", "evil:evil", "1", jar)) == []


def test_a_jar_that_is_a_link_has_no_files(tmp_path: Path) -> None:
    jar = environments.write_jar(tmp_path / "elsewhere.jar", {"Good.java": "class Good {}\n"})
    (tmp_path / "evil-1-sources.jar").symlink_to(jar)
    assert paths_of(Package("java", "evil:evil", "1", jar)) == ["Good.java"]
    assert paths_of(Package("java", "evil:evil", "1", tmp_path / "evil-1-sources.jar")) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.timeout(30)
def test_a_jar_that_is_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "evil-1-sources.jar")
    assert paths_of(Package("java", "evil:evil", "1", tmp_path / "evil-1-sources.jar")) == []


def test_a_jar_with_too_long_a_list_of_files_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = environments.write_jar(tmp_path / "evil-1-sources.jar", {f"{number}.java": "x" for number in range(50)})
    monkeypatch.setattr(package_files, "MAX_DIRECTORY_BYTES", 1000)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was opened"))
    assert paths_of(Package("java", "evil:evil", "1", jar)) == []


def test_files_that_a_build_made_of_others_are_left_out() -> None:
    axios = [
        "dist/axios.js",
        "dist/axios.d.ts",
        "lib/axios.js",
        "lib/axios.cjs",
        "index.d.ts",
        "index.d.cts",
        "index.js",
    ]
    assert package_files.second_builds(axios) == {"dist/axios.js", "lib/axios.cjs", "index.d.cts"}
    zod = ["src/core/parse.ts", "core/parse.js", "core/parse.d.ts", "core/parse.cjs", "core/other.js"]
    assert package_files.second_builds(zod) == {"core/parse.js", "core/parse.d.ts", "core/parse.cjs"}
    assert package_files.second_builds(["dist/index.js", "dist/index.d.ts", "package.json"]) == frozenset()
