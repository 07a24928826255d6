# Sourced by the commands in this folder. Makes the virtual environment .venv and keeps it in step with
# pyproject.toml, so that no command needs anything to be installed by hand.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# apt_install PACKAGE: only as root on a machine with apt-get; says so and returns 1 anywhere else.
apt_install() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "note: the package $1 is not installed" >&2
        return 1
    fi
    echo "installing $1" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"; } >&2
}

# find_python: prints the first interpreter that is new enough.
find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    echo "Cyclelens needs Python 3.11 or newer; none was found on PATH" >&2
    return 1
}

# inputs: all that an install depends on. The stages are compiled, so their sources belong to it: an editable
# install goes on using what was compiled from an older text.
inputs() {
    (cd "$root" && cat pyproject.toml setup.py dev/locks/development.txt $(find analyzer/simulator -name "*.py" -o -name "*.pxd" | LC_ALL=C sort) $(find analyzer/measuring/native -name "*.[ch]" | LC_ALL=C sort))
}

# link_packages: the packages under their names. They live in mapped folders (analyzer/ is cyclelens.analyzer),
# which checkers do not follow. Python takes them from here, too: the finder of setuptools' editable install
# imports a dozen modules at every start, which nobody has who installs the program.
link_packages() {
    local names="$root/build/ns/cyclelens" package site
    mkdir -p "$names"
    for package in analyzer server data; do
        ln -sfn "../../../$package" "$names/$package"
    done
    for package in "$root"/analyzer/api/*.py; do
        ln -sfn "../../../analyzer/api/$(basename "$package")" "$names/"
    done
    for site in "$root"/.venv/lib/python*/site-packages; do
        rm -f "$site"/__editable__*cyclelens*
        echo "$root/build/ns" >"$site/cyclelens.pth"
    done
}

# prepare: an editable install with all extras, made again only when its inputs changed.
prepare() {
    local python stamp wanted
    stamp="$root/.venv/installed"
    if [ ! -x "$root/.venv/bin/python" ]; then
        python="$(find_python)"
        "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
        echo "making .venv" >&2
        "$python" -m venv --clear "$root/.venv"
    fi
    # The path is part of the stamp: a copied or moved tree gets its own install.
    wanted="$root $(inputs | sha256sum)"
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        echo "installing the project and its packages into .venv" >&2
        find "$root/analyzer/simulator" -name "*.so" -delete
        "$root/.venv/bin/python" "$root/dev/declarations.py" >&2
        wanted="$root $(inputs | sha256sum)"
        "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            --constraint "$root/dev/locks/development.txt" --editable "$root[test,dev,plots]" >&2
        link_packages
        # As pip does for what it copies: commands start in half the time where Python may not write bytecode.
        "$root/.venv/bin/python" -m compileall -q "$root/analyzer" "$root/server" "$root/data" || true
        "$root/.venv/bin/python" -m compileall -q -l "$root/build/ns/cyclelens" || true
        echo "$wanted" >"$stamp"
    else
        link_packages
    fi
}
