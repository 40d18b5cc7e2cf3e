# One recipe per job; CI calls only these.

# Measure a scenario and give the verdict.
bench FILE *ARGS:
    cargo run --release -- run {{FILE}} {{ARGS}}

# Everything that must hold, as `cargo test --workspace` runs it.
test *ARGS:
    cargo test --workspace {{ARGS}}

# What the harness costs per operation, how fast the pure stages are (plans, records read, pages drawn), and whether emulated
# servers give what follows from their settings.
perf *ARGS:
    cargo bench -p engine -p scenario -p record -p report --bench worker --bench plan --bench reader --bench render {{ARGS}}
    cargo run --release -p feedline --example emulated

# The tests of `versus`, a workspace of its own.
test-versus:
    cargo test --manifest-path versus/Cargo.toml --target-dir target

# The tests of the Python package, by an executable and the Python that is named. Those of PyTorch, Lightning and transformers run
# where these are installed, and say so where not.
python PYTHON="python3":
    folder=$(.ci/executables) && cd python && FEEDLINE="$folder/feedline" \
        {{PYTHON}} -m unittest discover --top-level-directory . --start-directory tests

# feedline against fio, in turn, judged from outside: `just versus` for all cases, or names. Needs fio and a quiet machine.
versus *ARGS:
    cargo build --release -p feedline
    cargo run --release --manifest-path versus/Cargo.toml --target-dir target -- run {{ARGS}}

# Formatting, lints, documentation, licences. No flags of the compiler: with others than the tests have, what builds programs (macros,
# build scripts and the C in them) would be built twice.
lint $RUSTDOCFLAGS="-D warnings":
    cargo fmt --all --check
    cargo fmt --manifest-path versus/Cargo.toml --check
    cargo clippy --workspace --all-targets --features fuzz/targets -- -D warnings
    cargo clippy --manifest-path versus/Cargo.toml --target-dir target --all-targets -- -D warnings
    cargo doc --workspace --no-deps --document-private-items
    cargo deny check bans licenses sources

# Figures and tables of the book from the curated records, then the book. Fails when a committed one differs.
docs:
    docs/figures.sh
    git diff --exit-code -- docs/src/generated schema README.md
    mdbook build docs

# The schemas of scenarios and of answers, regenerated.
schema:
    FEEDLINE_SCHEMA=write cargo test --quiet -p scenario
    FEEDLINE_SCHEMA=write cargo test --quiet -p report --lib

# How often a verdict is wrong, by storages of known truth, for the book. Fails above the bounds.
truth *ARGS:
    folder=$(.ci/executables) && "$folder/truth" --worlds 2000 --markdown docs/src/generated/how-often-wrong.md {{ARGS}}

# Everything that is shipped, into target/packages: wheels, source, archives, deb, RPM, image; for other targets where named.
dist *TARGETS:
    packaging/make {{TARGETS}}

# Installs each of them where there is no Rust, and runs it there. Needs root.
dist-try:
    packaging/try

# What every submission must pass.
ci:
    cargo fmt --all --check
    cargo test --workspace --no-run
    .ci/beside truth lint test-versus docs
    just python
    .ci/quickstart

# Coverage-guided fuzzing of every parser of outside bytes: `just fuzz [SECONDS [TARGET ...]]`.
fuzz *ARGS:
    fuzz/run {{ARGS}}

# Hours of one run: its memory, descriptors, threads and record must not grow. `just soak repetitions 400` ends by what was made.
soak UNIT="seconds" MOST="3600":
    .ci/soak {{UNIT}} {{MOST}}

# Others' tests against the emulated servers, and feedline against others' servers: `just others S3_TESTS`, where S3_TESTS is a
# checkout of Ceph's s3-tests. `just others --write S3_TESTS` puts the tables into the book.
others *ARGS:
    .ci/others {{ARGS}}

# Every test in a process of its own, which is ended where it hangs and fails where it leaves a child behind. Needs cargo-nextest.
patience *ARGS:
    cargo nextest run --workspace {{ARGS}}

# Undefined behaviour in the buffers of queues and in a storage that is slowed down, by Miri, which is a component of nightly Rust.
miri:
    # In place of the runner of `.cargo/config.toml`, which starts programs.
    PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(rustc +nightly --print sysroot)/bin/cargo-miri runner" \
        cargo +nightly miri test --package backend --lib

# The tests of rings, maps, sockets and of what drives them, with `address` or `thread` for a sanitizer: nightly Rust builds its
# standard library with it too, of its component `rust-src`. Left out are the two tests that take from their process what a sanitizer
# needs, its signals and its address space; and examples in documentation, which do not link.
sanitized SANITIZER:
    LSAN_OPTIONS=suppressions="$PWD/.ci/kept-on-purpose" RUSTFLAGS="-Zsanitizer={{SANITIZER}}" \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="timeout --kill-after=10 1800" \
        cargo +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu --target-dir target/sanitized-{{SANITIZER}} \
        --package backend --package backend-file --package backend-net --package engine --lib --tests -- \
        --skip address_space_is_short --skip too_little_address_space_is_named --skip ends_the_process_as_it_always_did

# Longer proofs, as every night plays them: all, or those that are named (see `.ci/nightly`).
nightly *PARTS:
    .ci/nightly {{PARTS}}

# Shards of every layout, read back by the libraries that training jobs use. Needs Python 3 and its package index.
formats-readback FOLDER="target/readback":
    rm -rf {{FOLDER}}/shards
    cargo run -p formats --example shards -- {{FOLDER}}/shards
    python3 -m venv {{FOLDER}}/venv
    {{FOLDER}}/venv/bin/pip install --quiet webdataset numpy pyarrow zarr h5py google-crc32c
    {{FOLDER}}/venv/bin/pip install --quiet tensorflow-cpu || {{FOLDER}}/venv/bin/pip install --quiet tfrecord
    {{FOLDER}}/venv/bin/python crates/formats/tests/readback.py {{FOLDER}}/shards
