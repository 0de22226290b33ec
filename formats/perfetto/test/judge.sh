#!/bin/sh
# judge.sh BIN [TRACE...]: what tracetool reads of Perfetto traces, and copies of a part of them, beside Perfetto's
# own importer (judge.py).  Status 77: it is not there.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 formats/perfetto/test/judge.py "$@" || exit
exec python3 formats/perfetto/test/judge.py "$1" --cuts
