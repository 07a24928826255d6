"""Fetches the sources of Debian packages and crates into a cache folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from cyclelens.analyzer.model.source import Origin
from msgspec import Struct

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cyclelens-corpora"


class Unavailable(Exception):
    """A package or program is not available here; the message says why."""


def fetch(package: str, *wanted: str) -> Path:
    """The folder with the unpacked sources of a Debian package, from the cache if possible.

    ``wanted`` limits a large package to some folders.

    ``apt-get source`` needs deb-src entries, which most machines lack: they are derived from the machine's
    own entries, for this program only.
    """
    folder = CACHE / "sources" / package
    if folder.is_dir():
        return folder
    if shutil.which("apt-get") is None:
        raise Unavailable("there is no apt-get to fetch sources with")
    options = _apt_options()
    downloads = CACHE / "downloads" / package
    downloads.mkdir(parents=True, exist_ok=True)
    trouble = f"the sources of {package} hold no archive"
    archives: list[Path] = []
    for version in _versions(package, options):
        try:
            _apt([*options, "source", "--download-only", f"{package}={version}"], downloads)
        except Unavailable as error:
            trouble = str(error)  # possibly a signature or a patch, which are not needed
        found = (path for path in downloads.glob("*.orig.tar.*") if path.suffix != ".asc")
        archives = sorted(found, key=lambda path: -path.stat().st_size)
        if archives:
            break
    if not archives:
        raise Unavailable(trouble)
    unpacked = folder.with_name(f"{package}.{os.getpid()}")
    with tarfile.open(archives[0]) as archive:
        members = (one for one in archive if not wanted or one.name.partition("/")[2].startswith(wanted))
        archive.extractall(unpacked, members, filter="data")
    (inner,) = unpacked.iterdir()
    _put(inner, folder)
    shutil.rmtree(unpacked)
    return folder


def _put(unpacked: Path, folder: Path) -> None:
    """Move it to the cache, unless another process was faster."""
    try:
        unpacked.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def fetch_crate(package: str) -> Path:
    """The folder with the sources of a Rust library, which Debian ships in a binary package."""
    folder = CACHE / "sources" / package
    if not folder.is_dir():
        if shutil.which("dpkg-deb") is None:
            raise Unavailable("there is no dpkg-deb to unpack packages with")
        downloads = CACHE / "downloads" / package
        downloads.mkdir(parents=True, exist_ok=True)
        _apt(["download", package], downloads)
        (archive,) = downloads.glob("*.deb")
        unpacked = folder.with_name(f"{package}.{os.getpid()}")
        subprocess.run(["dpkg-deb", "-x", archive, unpacked], check=True, capture_output=True)
        _put(unpacked, folder)
        shutil.rmtree(unpacked, ignore_errors=True)
    (crate,) = folder.glob("usr/share/cargo/registry/*")
    return crate


def _apt_options() -> list[str]:
    """Options for apt-get to use separate source entries and folders; the lists are fetched once."""
    root = CACHE / "apt"
    options = [
        f"-oDir::Etc::SourceList={os.devnull}",
        f"-oDir::Etc::SourceParts={root / 'parts'}",
        f"-oDir::State::Lists={root / 'lists'}",
        f"-oDir::Cache={root / 'cache'}",
        "-oAPT::Sandbox::User=",
    ]
    if (root / "lists").is_dir():
        return options
    parts = root / "parts"
    for path in (parts, root / "lists" / "partial", root / "cache" / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    etc = Path("/etc/apt")
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]:
        if path.suffix == ".sources":
            text = re.sub(r"^Types:.*$", "Types: deb-src", path.read_text(), flags=re.MULTILINE)
        elif path.suffix == ".list" and path.is_file():
            text = re.sub(r"^deb\b", "deb-src", path.read_text(), flags=re.MULTILINE)
        else:
            continue
        (parts / path.name).write_text(text)
    try:
        _apt([*options, "update", "-qq"], root)
    except Unavailable:
        shutil.rmtree(root / "lists")
        raise
    return options


def _versions(package: str, options: list[str]) -> list[str]:
    """Listed versions, the newest first; a mirror may lack some of them."""
    done = subprocess.run(["apt-cache", *options, "showsrc", package], capture_output=True, text=True)
    return list(dict.fromkeys(reversed(re.findall(r"^Version: (\S+)", done.stdout, re.MULTILINE))))


def _apt(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(["apt-get", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        raise Unavailable(f"apt-get {arguments[-2]} failed: {(reason or ['no reason given'])[0]}")


class Source(Struct, frozen=True):
    """One input file of the front end, and the command of its own assembler."""

    name: str
    path: Path
    root: Path
    include_paths: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    pre_includes: tuple[Path, ...] = ()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")

    @property
    def origin(self) -> Origin:
        return Origin(
            str(self.path),
            (str(self.root),),
            tuple(map(str, self.include_paths)),
            tuple(self.defines),
            tuple(map(str, self.pre_includes)),
        )


def made(package: str) -> Path:
    folder = CACHE / "made" / package
    folder.mkdir(parents=True, exist_ok=True)
    return folder
