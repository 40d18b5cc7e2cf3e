#!/usr/bin/env bash
# Every generated part of the book, from the curated records in results/ and from the schema. The same records
# give the same bytes, so CI runs this and compares.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(.ci/executables)
# As its tests left it: it only shows what is there.
cargo build --quiet --manifest-path versus/Cargo.toml --target-dir target
feedline=$built/feedline
generated=docs/src/generated
for run in results/*/run.json; do
    folder=$(dirname "$run")
    name=$(basename "$folder")
    case $name in 2*) continue ;; esac
    "$feedline" report "$folder" --full >"$generated/$name.txt"
    # Checkpoints alone have no throughput of samples to plot.
    case $name in checkpoint-llm) continue ;; esac
    "$feedline" report "$folder" --format svg >"$generated/$name.svg"
    if grep -q '"fetch"' "$run"; then
        for plot in training-timeline training-waits; do
            "$feedline" report "$folder" --format svg --plot "$plot" >"$generated/$name-$plot.svg"
        done
    fi
done
plot() { # run, plot
    "$feedline" report "results/$1" --format svg --plot "$2" >"$generated/$1-$2.svg"
}
.ci/soak judge results/soak/samples.tsv >"$generated/soak.txt"
for name in percentiles tradeoff; do plot quickstart "$name"; done
for name in sizes roofline; do plot sizes "$name"; done
for name in heatmap over-time machine; do plot over-time "$name"; done
plot c09-files-or-shards layouts
plot epochs epochs
plot checkpoint checkpoints
plot mixed plane
plot ladder training-ladder
part() { # run, file, beginning of each heading: those sections of its page
    local run=$1 file=$2
    shift 2
    awk -v headings="$(printf '%s|' "$@")" '
        BEGIN { count = split(headings, heading, "|") - 1 }
        /^- / { shown = 0; for (i = 1; i <= count; i++) if (index($0, "- " heading[i]) == 1) shown = 1 }
        /^(not tested|note |bytes |asks |idle |stall |gate |FEEDS|STARVES|UNCERTAIN|UNJUDGED|DEMO|NEED|PAGE)/ { shown = 0 }
        shown { print }
    ' "$generated/$run.txt" >"$generated/$file.txt"
}
part c09-files-or-shards c09-gains "layouts against files"
part c41-same-device c41-gains "layouts against files"
part stage-or-stream staging "copies" "whether a copy pays"
part epochs epochs-passes "epochs"
part cache-tier tier-passes "epochs"
part checkpoint checkpoint-costs "checkpoints" "training with checkpoints"
"$feedline" what-if copy --from results/stage-or-stream >"$generated/what-if-copy.txt"
"$feedline" what-if readers --from results/training-throttled >"$generated/what-if-readers.txt"
"$feedline" claims --markdown >"$generated/claims.md"
# What the scenarios of claims measured: of each page the figures, and what was foretold for them.
measured() { # folder of a run
    "$feedline" report "$1" --format markdown | awk -F'|' -v number="$2" '
        NR == 1 { print "<a id=\"" number "\"></a>\n\n##" $0 "\n" }
        /^## / { section = $0; next }
        # A table of jobs has more columns than a page, and a list below what was foretold is of the line.
        section == "## Training" && /^\|/ && NF > 14 { row = ""; for (i = 1; i <= 11; i++) row = row $i "|"; $0 = row }
        section == "## Training" && /^\|/ && NF < 6 { next }
        section == "## Predicted" && /^- / { next }
        { sub("see the remarks of its row in the first table", "its page says why") }
        { text[section] = text[section] $0 "\n" }
        END {
            if ("## Training" in text) printf "%s", text["## Training"]
            else if ("## Predicted" in text) printf "%s", text["## Predicted"]
            else printf "%s", text["## Cells"]
            if ("## Layouts" in text) printf "%s", text["## Layouts"]
        }'
}
printf '%s\n' results/claims/* results/c[0-9]*-* | sed 's|.*/\(c[0-9]*\)-|\1 &|' | sort -V | while read -r number folder; do
    measured "$folder" "$number"
done >"$generated/claims-measured.md"
"$built/truth" --causes "$generated/causes.md"
"$feedline" compare results/engines >"$generated/engines.txt"
"$feedline" compare results/engines --format svg >"$generated/engines-shift.svg"
"$feedline" history results/nightly >"$generated/nightly.txt"
"$feedline" history results/nightly --format svg >"$generated/nightly.svg"

target/debug/versus show results/versus/*.json >"$generated/versus.md"
# Of the workspace: alone it would ask for other features of what it is made of, and all of that would be built once more.
cargo build --quiet --workspace --example reference
target/debug/examples/reference >"$generated/scenario.md"

# Near the top of the README stands the answer of the quick look.
"$feedline" report results/quickstart >"$generated/quickstart-answer.txt"
awk -v answer="$generated/quickstart-answer.txt" '
    /^<!-- end of quickstart/ { skipping = 0 }
    !skipping { print }
    /^<!-- quickstart:/ {
        print "```text"
        while ((getline line < answer) > 0) print line
        print "```"; skipping = 1
    }
' README.md >target/README.md
cp target/README.md README.md
