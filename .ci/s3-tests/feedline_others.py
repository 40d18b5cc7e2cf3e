"""Plugin of pytest that runs Ceph's s3-tests against the emulated S3, and says in a table what came of them.

A test that failed is refused by design where `refused.toml` has a rule for what the server would not do in it, or for the
test itself. Any other test that failed has failed, and so has the session."""

import os
import re
import subprocess
import tomllib
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import botocore.client
import pytest
from botocore.exceptions import ClientError

RULES = tomllib.loads((Path(__file__).parent / "refused.toml").read_text())["refused"]
# What was answered 501 in the test that runs, as "Operation: message".
REFUSALS = []
# Of each test by its name: its outcome, and of one that failed the reason.
RESULTS = {}


def watched(call):
    """A call of a client that takes down what is answered 501."""

    def made(client, operation, arguments):
        try:
            return call(client, operation, arguments)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 501:
                REFUSALS.append(f"{operation}: {error.response['Error'].get('Message', '')}")
            raise

    return made


def removed(client, bucket):
    """Removes a bucket and what it holds. The suite's own way asks for versions."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for entry in page.get("Contents", []):
            client.delete_object(Bucket=bucket, Key=entry["Key"])
    client.delete_bucket(Bucket=bucket)


def emptied(client):
    """Removes all buckets. The suite leaves those whose names a test made up."""
    for bucket in client.list_buckets()["Buckets"]:
        removed(client, bucket["Name"])


def pytest_configure(config):
    botocore.client.BaseClient._make_api_call = watched(botocore.client.BaseClient._make_api_call)


def pytest_collection_finish(session):
    from s3tests import functional

    functional.configure()
    client = functional.get_client()
    # One user stands for all of them, and a test may find no bucket that it did not make.
    functional.setup = lambda: emptied(client)
    functional.teardown = lambda: emptied(client)
    functional.nuke_bucket = removed


def pytest_runtest_setup(item):
    REFUSALS.clear()


def reason(name, marks):
    """Why a test that failed is refused by design: the first rule that knows what was refused in it, its name or a mark."""
    for rule in RULES:
        is_asked = "asks" in rule and any(re.search(rule["asks"], refusal) for refusal in REFUSALS)
        is_named = "tests" in rule and re.fullmatch(rule["tests"], name)
        if is_asked or is_named or rule.get("mark") in marks:
            return rule["why"]
    return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.passed and report.when != "call":
        return
    why = None
    if report.failed:
        # What was refused explains a test that could not begin or go on, and no bucket that could not be emptied.
        if report.when != "teardown":
            why = reason(item.name, {mark.name for mark in item.iter_markers()})
        if why is None:
            print(f"\nFAILED {item.name} ({report.when}): {call.excinfo.exconly()[:300]}; 501: {REFUSALS}")
    RESULTS[item.name] = (report.outcome, why)


def pytest_sessionfinish(session, exitstatus):
    passed = [name for name, (outcome, _) in RESULTS.items() if outcome == "passed"]
    skipped = [name for name, (outcome, _) in RESULTS.items() if outcome == "skipped"]
    failed = [name for name, (outcome, why) in RESULTS.items() if outcome == "failed" and why is None]
    refused = Counter(why for _, why in RESULTS.values() if why is not None)
    suite = str(session.config.rootpath)
    commit = subprocess.run(["git", "-C", suite, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True)
    at = f"commit {commit.stdout.strip()}, boto3 {version('boto3')}"
    lines = [
        f"| Ceph's s3-tests ({at}) | tests |",
        "|---|--:|",
        f"| passed | {len(passed)} |",
        f"| refused by design | {refused.total()} |",
        *([f"| left out by the suite itself | {len(skipped)} |"] if skipped else []),
        f"| failed | {len(failed)} |",
        *[f"| failed: `{name}` | |" for name in failed],
        "",
        "| refused by design, as | tests |",
        "|---|--:|",
        *[f"| {rule['why']} | {refused[rule['why']]} |" for rule in RULES if refused[rule["why"]]],
    ]
    Path(os.environ["S3_TESTS_TABLE"]).write_text("\n".join(lines) + "\n")
    for rule in RULES:
        if not refused[rule["why"]]:
            print(f"\nno test was refused, as {rule['why']}")
    # Any other end, as of a suite that could not be read, stays what it is.
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = 1 if failed else 0
