#!/bin/sh
# Pins requirements.in, with hashes, for every platform and Python that the book is for, with no index address.
set -eu

all="sys_platform == 'darwin' or sys_platform == 'linux' or sys_platform == 'win32'"
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
    --no-header --no-annotate "$@" requirements.in -o requirements.txt
{
    echo "# Pinned by 'make requirements' from requirements.in; do not edit."
    sed -E "s/ ; $all \\\\\$/ \\\\/" requirements.txt
} >requirements.new
mv requirements.new requirements.txt
