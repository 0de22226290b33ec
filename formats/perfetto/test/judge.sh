#!/bin/sh
# judge.sh BIN [TRACE...]: Perfetto traces as tracetool reads them, and copies of a part of them, beside Perfetto's own
# importer (judge.py).  Status 77: it is not there; 1: an unexpected difference.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 formats/perfetto/test/judge.py "$@" || exit
exec python3 formats/perfetto/test/judge.py "$@" --cuts
