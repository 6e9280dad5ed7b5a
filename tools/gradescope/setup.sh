#!/usr/bin/env bash
# Gradescope runs this once, as root, when the archive is uploaded: it sets up the grader's environment from the pinned
# requirements and the wheels beside this file. What a student's process must not read stays readable to root alone.
set -euo pipefail
source="$(cd "$(dirname "$0")" && pwd)"
base="$(dirname "$source")"
python="$base/environment/bin/python"
export UV_PYTHON_INSTALL_DIR="$base/python" UV_LINK_MODE=copy

python3 -m pip --version >/dev/null 2>&1 || { apt-get update && apt-get install -y python3-pip; }
python3 -m pip install --quiet --target "$base/uv" "$(grep -oE '^uv==[0-9.]+' "$source/uv.txt")"
"$base/uv/bin/uv" venv --quiet --clear --python '>=3.11,<3.15' "$base/environment"
"$base/uv/bin/uv" pip install --quiet --python "$python" --require-hashes -r "$source/requirements.txt"
"$base/uv/bin/uv" pip install --quiet --python "$python" --no-deps "$source"/rankone*.whl

# The checks run from source/tests; the copy that came with the wheel would be readable.
rm -r "$base"/environment/lib/python3*/site-packages/rankone_book/exercises/*/
chmod -R go-rwx "$source"
if [ "$(id -u)" = 0 ] && ! su -s /bin/sh nobody -c "$python -c pass"; then
    echo "The account nobody cannot run $python, so that no student's code can run." >&2
    exit 1
fi
