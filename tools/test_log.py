#!/usr/bin/env python3
"""What tools/test asks of Meson's files.

    test_log.py names BUILD SUITE,SUITE [PATTERN...]     prints the names of the tests of these suites that a pattern fits
    test_log.py summary FAILED LOG.json...               prints the logs of tests that failed, then one line of counts; FAILED
                                                         is added to the failed. Exit status 1 if any failed or none ran.
"""
import fnmatch
import json
import subprocess
import sys

RESULTS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}  # all others are failures


def names(build, suites, patterns):
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, stdout=subprocess.PIPE).stdout)
    for test in tests:
        # A suite reads project:name.
        own = {suite.rpartition(":")[2] for suite in test["suite"]}
        fits = not patterns or any(p in test["name"] or fnmatch.fnmatch(test["name"], p) for p in patterns)
        if fits and own & set(suites.split(",")):
            print(test["name"])
    return 0


def summary(failed, logs):
    counts = {"passed": 0, "failed": int(failed), "skipped": 0}
    for log in logs:
        try:
            with open(log, encoding="utf-8") as file:
                tests = [json.loads(line) for line in file if line.strip()]
        except OSError as error:  # Meson gave up before the first test
            print(f"{log}: {error.strerror}")
            counts["failed"] += 1
            continue
        for test in tests:
            result = RESULTS.get(test["result"], "failed")
            counts[result] += 1
            if result == "failed":
                print(f"\n==== {log}: {test['name']}: {test['result']}, exit status {test['returncode']}")
                print(test.get("stdout", ""), test.get("stderr", ""), sep="")
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "names":
        sys.exit(names(sys.argv[2], sys.argv[3], sys.argv[4:]))
    if len(sys.argv) >= 3 and sys.argv[1] == "summary":
        sys.exit(summary(sys.argv[2], sys.argv[3:]))
    sys.exit(__doc__)
