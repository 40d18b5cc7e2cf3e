"""The licences of all that is linked into the executable of a target, with their texts, each text once."""

import importlib.util
import json
import pathlib
import subprocess
import sys

TEXTS = ("LICEN[CS]E*", "COPYING*", "NOTICE*", "UNLICENSE*")


def linked(target):
    """Crates below `feedline`, without those of builds and tests."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    found = [package["id"] for package in metadata["packages"] if package["name"] == "feedline"]
    for crate in found:
        for edge in nodes[crate]["deps"]:
            is_linked = any(kind["kind"] is None for kind in edge["dep_kinds"])
            is_macro = any("proc-macro" in target["kind"] for target in packages[edge["pkg"]]["targets"])
            if is_linked and not is_macro and edge["pkg"] not in found:
                found.append(edge["pkg"])
    others = [packages[crate] for crate in found if packages[crate]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def libraries(target):
    """What zig links beside crates, and where its licence stands."""
    zig = pathlib.Path(importlib.util.find_spec("ziglang").origin).parent / "lib"
    yield "LLVM libunwind", "Apache-2.0 WITH LLVM-exception", zig / "libunwind/LICENSE.TXT"
    if target.endswith("-musl"):
        yield "musl", "MIT", zig / "libc/musl/COPYRIGHT"


def main(target):
    users = {}
    for name, licence, path in libraries(target):
        print(f"{name}: {licence}")
        users.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    for package in linked(target):
        folder = pathlib.Path(package["manifest_path"]).parent
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or 'see its text'}")
        for path in sorted({path for form in TEXTS for path in folder.glob(form) if path.is_file()}):
            users.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    for text, names in users.items():
        print(f"\n{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'-' * 80}\n{text}")


main(sys.argv[1])
