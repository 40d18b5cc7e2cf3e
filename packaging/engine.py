"""Sets a bundle that umoci unpacked to what engines of containers give by default: `engine.py BUNDLE FOLDER ARGUMENT ...`.

A root that cannot be written, no capability, 64 KiB of locked memory, io_uring forbidden as Docker's profile forbids it
(https://github.com/moby/moby/pull/46762), and FOLDER at /results, the one place that can be written. The user is the image's, the
keys of S3 are those of the environment here.
"""

import json
import os
import pathlib
import sys

bundle, folder, *arguments = sys.argv[1:]
path = pathlib.Path(bundle) / "config.json"
config = json.loads(path.read_text())
process = config["process"]
process["terminal"] = False
process["args"] = process["args"][:1] + arguments
keys = {f"{name}={value}" for name, value in os.environ.items() if name.startswith("AWS_")}
process["env"] = sorted({*process["env"], *keys})
process["capabilities"] = {kind: [] for kind in process["capabilities"]}
process["rlimits"] = [{"type": "RLIMIT_MEMLOCK", "soft": 65536, "hard": 65536}]
config["root"]["readonly"] = True
mount = {"destination": "/results", "type": "bind", "source": folder, "options": ["rbind", "rw"]}
config["mounts"] = [*(each for each in config["mounts"] if each["destination"] != "/results"), mount]
forbidden = ["io_uring_setup", "io_uring_enter", "io_uring_register"]
rule = {"names": forbidden, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}
# The servers that are read from listen on the host.
config["linux"]["namespaces"] = [each for each in config["linux"]["namespaces"] if each["type"] != "network"]
config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}
path.write_text(json.dumps(config))
