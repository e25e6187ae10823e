#!/usr/bin/env bash
# Adds up the orders in a CSV file: report.sh FILE
set -eu

# shellcheck source=/dev/null
. ./settings.env

count=0 total=0
while IFS=, read -r _ amount; do
  count=$((count + 1)) total=$((total + amount))
done <"$1"

echo "$count orders, $total $CURRENCY"
