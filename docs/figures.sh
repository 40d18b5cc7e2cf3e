#!/usr/bin/env bash
# Every generated part of the book, from the curated records in results/ and from the schema. The same records
# give the same bytes, so CI runs this and compares.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet -p feedline -p versus
feedline=target/release/feedline
generated=docs/src/generated
for run in results/*/run.json; do
    folder=$(dirname "$run")
    name=$(basename "$folder")
    case $name in 2*) continue ;; esac
    "$feedline" report "$folder" >"$generated/$name.txt"
    "$feedline" report "$folder" --format svg >"$generated/$name.svg"
    if grep -q '"fetch"' "$run"; then
        for plot in training-timeline training-waits; do
            "$feedline" report "$folder" --format svg --plot "$plot" >"$generated/$name-$plot.svg"
        done
    fi
done
target/release/versus show results/versus/*.json >"$generated/versus.md"
cargo run --quiet -p scenario --example reference >"$generated/scenario.md"

# The verdict near the top of the README is the quick look's own.
awk -v verdict="$generated/quickstart.txt" '
    /^<!-- quickstart:/ {
        print; print "```text"
        while ((getline line < verdict) > 0) print line
        print "```"; skipping = 1
    }
    /^<!-- end of quickstart/ { skipping = 0 }
    !skipping && !/^<!-- quickstart:/ { print }
' README.md >target/README.md
cp target/README.md README.md
