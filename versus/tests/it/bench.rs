//! A folder with stand-ins for feedline and fio: shell scripts that log how they are called and print what they are
//! told.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Prepares a sparse file in place of the dataset of 64 MiB; logs the scenario with the call; records two repetitions.
const FEEDLINE: &str = r#"
case "$1" in
--version) echo "feedline 9.9.9" ;;
prepare)
    echo "feedline $*" >> log
    mkdir -p data/one-of-64m/feedline-00/000000
    truncate -s 67108864 data/one-of-64m/feedline-00/000000/0.bin ;;
run)
    echo "feedline $* $(tr '\n' ' ' < "$2" | sed 's/ $//')" >> log
    ops=1000
    grep -q '"0.04s"' "$2" && ops=6000
    mkdir -p "$4/a-run"
    for role in measure confirm; do
        echo "{\"line\":\"rep\",\"role\":\"$role\",\"outcome\":\"complete\",\"window_ns\":1000000000,\
\"counters\":{\"ops\":$ops,\"bytes\":$((ops * 4096)),\"warmup_ops\":0},\"errors\":{},\
\"granted\":{\"files\":\"registered\"}}" >> "$4/a-run/cells.jsonl"
    done ;;
esac
"#;

const FIO: &str = r#"
[ "$1" = --version ] && echo fio-0.0 && exit
echo "fio $*" >> log
ops=1000
case "$*" in *40ms*) ops=6000 ;; esac
echo "note: something"
echo "{\"jobs\":[{\"error\":0,\"read\":{\"io_bytes\":$((ops * 4096)),\"total_ios\":$ops,\"runtime\":2000},\"write\":{\"io_bytes\":0,\"total_ios\":0,\"runtime\":0}}]}"
"#;

const BARE: &str = r#"
echo "loop $*" >> log
ops=1000
case "$*" in *--seconds=0.04*) ops=6000 ;; esac
echo "{\"ops\":$ops,\"bytes\":$((ops * 4096)),\"window_s\":2}"
"#;

/// A folder of its own, removed at the end.
pub(crate) struct Bench {
    dir: TempDir,
}

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) ok: bool,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        bench.write_tool("feedline", FEEDLINE);
        bench.write_tool("fio", FIO);
        bench.write_tool("bare", BARE);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write_tool(&self, name: &str, script: &str) {
        // Another process writes what is run: where this one holds it open, a child that another test starts meanwhile does too,
        // and nobody may run it ("text file busy").
        let text = self.path(&format!("{name}.sh"));
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        let written = Command::new("install").args(["-m", "755"]).arg(text).arg(self.path(name)).status();
        assert!(written.unwrap().success(), "{name}");
    }

    /// `versus run` with the stand-ins, and runs of 10 and 40 ms.
    pub(crate) fn versus(&self, args: &[&str]) -> Ended {
        let fixed = [
            "run",
            "--feedline",
            "./feedline",
            "--fio",
            "./fio",
            "--bare",
            "./bare",
            "--dir",
            "data",
            "--out",
            "out",
        ];
        let lengths = ["--short", "0.01", "--long", "0.04"];
        self.program(&[&fixed[..], &lengths[..], args].concat())
    }

    pub(crate) fn program(&self, args: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_versus"))
            .args(args)
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        Ended {
            ok: output.status.success(),
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub(crate) fn record(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.path("out").join(name)).unwrap()).unwrap()
    }

    /// Only the data is kept for the next time.
    pub(crate) fn nothing_is_left(&self) {
        for entry in fs::read_dir(self.path("data")).unwrap() {
            let name = entry.unwrap().file_name();
            assert_eq!(name, "one-of-64m");
        }
    }
}
