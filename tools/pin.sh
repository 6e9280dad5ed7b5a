#!/bin/sh
# Pins what the .in files list, with hashes, for every platform and Python that the book is for, with no index address.
set -eu

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
all="sys_platform == 'darwin' or sys_platform == 'linux' or sys_platform == 'win32'"

compile() { # pins that are already in the output file stay if they still fit
    output=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --no-header --no-annotate "$@" -o "$output"
    sed -E "s/ ; $all \\\\\$/ \\\\/" "$output" >"$output.short"
}

cat requirements.txt requirements-tests.txt >"$new/all" 2>/dev/null || true
compile "$new/all" "$@" requirements.in requirements-tests.in
cp "$new/all" "$new/book"
compile "$new/book" --constraints "$new/all" requirements.in

{
    echo "# Pinned by 'make requirements' from requirements.in; do not edit."
    cat "$new/book.short"
} >requirements.txt
{
    echo "# Pinned by 'make requirements' from requirements-tests.in; do not edit. Install it with requirements.txt, whose pins"
    echo "# are not repeated here."
    awk '/^[^ ]/ { repeated = FNR == NR ? seen[$0]++ : $0 in seen } FNR < NR && !repeated' \
        "$new/book.short" "$new/all.short"
} >requirements-tests.txt
