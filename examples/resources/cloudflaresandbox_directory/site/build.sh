#!/usr/bin/env bash
set -e
mkdir -p out
for page in pages/*.txt; do
  printf '<p>%s</p>\n' "$(cat "$page")" >"out/$(basename "$page" .txt).html"
done
