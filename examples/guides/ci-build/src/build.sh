#!/usr/bin/env bash
# Stands in for a real build.
set -euo pipefail
mkdir -p out
tr '[:lower:]' '[:upper:]' < message.txt > out/message.txt
echo "built $(wc -c < out/message.txt) bytes"
