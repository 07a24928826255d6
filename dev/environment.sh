# Sourced by the commands in this folder. Makes the virtual environment .venv and keeps it in step with
# pyproject.toml, so that no command needs anything to be installed by hand.

everything=test,dev,plots
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# apt_install PACKAGE: only as root on a machine with apt-get; says so and returns 1 anywhere else.
apt_install() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "note: the package $1 is not installed" >&2
        return 1
    fi
    echo "installing $1" >&2
    # One after the other: commands in the background install, too.
    {
        flock /var/lib/apt apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive flock /var/lib/apt apt-get install -y -qq --no-install-recommends "$1"
    } >&2
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

# inputs: all that an install depends on. The core is compiled, so its sources belong to it: an editable install
# goes on using what was compiled from an older text.
inputs() {
    (cd "$root" && cat pyproject.toml setup.py dev/locks/development.txt $(find analyzer/simulator -name "*.p?[xi]" | LC_ALL=C sort) $(find analyzer/measuring/native -name "*.[ch]" | LC_ALL=C sort))
}

# link_packages: the packages under their names. They live in mapped folders (analyzer/ is cyclelens.analyzer),
# which checkers do not follow. Python takes them from here, too: the finder of setuptools' editable install
# imports a dozen modules at every start, which an installed program does not have.
link_packages() {
    local names="$root/build/ns/cyclelens" package site
    mkdir -p "$names"
    for package in "$names"/*; do
        [ -e "$package" ] || rm -f "$package"  # a module that is gone
    done
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

# step TEXT COMMAND...: runs a command of the installation, and says what it does and how long it took.
step() {
    local text="$1" begin=$SECONDS
    shift
    echo "$text" >&2
    "$@" >&2 || return
    echo "    $((SECONDS - begin)) s" >&2
}

pip_install() {
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$root/dev/locks/development.txt" "$@"
}

compile_core() {
    find "$root/analyzer/simulator" -name "*.so" -delete
    pip_install --no-build-isolation --no-deps --editable "$root" || return
    link_packages
    # As pip does for what it copies: commands start in half the time where Python may not write bytecode.
    "$root/.venv/bin/python" -m compileall -q "$root/analyzer" "$root/server" "$root/data" || true
    "$root/.venv/bin/python" -m compileall -q -l "$root/build/ns/cyclelens" || true
}

# install_packages EXTRAS: those that the project needs, and those of these extras, unless they are installed.
install_packages() {
    # The path is part of the stamps: a copied or moved tree gets its own install.
    local extras="$1" stamp="$root/.venv/installed-packages$1" wanted
    wanted="$root $(cat "$root/pyproject.toml" "$root/dev/locks/development.txt" | sha256sum)"
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        # What only tests and checks import is compiled to bytecode when it is imported.
        step "installing packages${extras:+ for $extras}" \
            pip_install ${extras:+--no-compile} --requirement <("$root/.venv/bin/python" "$root/dev/requirements.py" "$extras") || return
        echo "$wanted" >"$stamp"
    fi
}

# install_core: compiles the simulator, unless that was done.
install_core() {
    local stamp="$root/.venv/installed" wanted
    wanted="$root ${CYCLELENS_CHECKED:-} $(inputs | sha256sum)"
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        step "compiling the simulator (about half a minute)" compile_core || return
        echo "$wanted" >"$stamp"
    else
        link_packages
    fi
}

# prepare [EXTRAS]: the packages that commands need, and the project itself; with EXTRAS ("test,dev") the packages of
# these extras too, while the simulator is compiled. Each is made again only when what it depends on changed.
prepare() {
    local python compiling extras="${1:-}"
    if [ ! -x "$root/.venv/bin/python" ]; then
        python="$(find_python)"
        "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
        step "making an environment in .venv" "$python" -m venv --clear "$root/.venv"
    fi
    install_packages "" || return
    install_core &
    compiling=$!
    [ -z "$extras" ] || install_packages "$extras" || return
    wait $compiling
}
