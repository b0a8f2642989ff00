#!/usr/bin/python3
"""samples/cluster: the scripts are right, and their parts make the whole, once.

usage: test_cluster.py IMGPIPE [--long]

The quick test fakes the launchers and their variables; --long starts a real Slurm of one node (packages slurm-wlm and munge), a
real mpirun (openmpi-bin) and GNU parallel (parallel).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cluster_slurm
from folders import found
from folders_break import noise, temporaries
from harness import PROGRAM, Tally, check, environment, read, run

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples", "cluster")
IMAGES, CHAIN = 40, "median=5,blur=2"

FAKES = {  # the options that the scripts use end where the program begins
    "srun": """while [ "${1#--}" != "$1" ]; do shift; done
n=${FAKE_TASKS:-3} status=0
for ((r = 0; r < n; r++)); do
    SLURM_PROCID=$r SLURM_LOCALID=$r SLURM_STEP_NUM_TASKS=$n "$@" || status=1
done
exit $status""",
    "mpirun": """n=$2; shift 4
for ((r = 0; r < n; r++)); do
    OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_LOCAL_RANK=$r OMPI_COMM_WORLD_SIZE=$n "$@" || exit 1
done""",
    "parallel": """shift 5
while read -r n; do "${@//\\{\\}/$n}" </dev/null || exit 1; done""",
}


def script(name):
    return os.path.join(SAMPLES, name)


def settings(out, **more):
    path = os.path.join(os.getcwd(), "bin") + os.pathsep + os.environ["PATH"]
    return environment(IMGPIPE=PROGRAM, IN=os.path.abspath("in"), OUT=os.path.abspath(out), CHAIN=CHAIN, PATH=path, **more)


def start(command, env):
    process = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=600,
                             text=True)
    return process.returncode, process.stdout


def check_whole(out, said, parts, twice=False):
    """All outputs are there and right, and the parts together did each image once."""
    check(found(out) == found("want"), out, "lacks", set(found("want")) - set(found(out)), said)
    check(all(read(f"{out}/{name}") == read(f"want/{name}") for name in found(out)), out, "holds other bytes than one run")
    numbers = re.findall(rf"part (\d+) of {parts}: (?:all )?(\d+) images? done", said)
    check(sorted({int(part) for part, _ in numbers}) == list(range(1, parts + 1)), "not all parts were run:", said)
    if not twice:
        check(sum(int(count) for _, count in numbers) == IMAGES, "the parts did another number of images:", said)
        check("earlier runs" not in said, "something was done twice:", said)
    check(not temporaries(out), "temporary files are left")


def test_syntax():
    for name in sorted(os.listdir(SAMPLES)):
        if name.endswith(".sh"):
            check(subprocess.run(["bash", "-n", script(name)]).returncode == 0, name, "is no script")
            check(os.access(script(name), os.X_OK), name, "cannot be executed")
            status, said = start([script(name)], environment(PATH=os.environ["PATH"]))
            check(status != 0 and "IN: the folder of images" in said, name, "runs without a folder:", said)
            if shutil.which("shellcheck"):
                status, said = start(["shellcheck", script(name)], environment(PATH=os.environ["PATH"]))
                check(status == 0, name, said)
    listed = re.findall(r"^\| `([^`]+)` \|", read(script("README.md")).decode(), re.M)
    check(sorted(listed + ["README.md"]) == sorted(os.listdir(SAMPLES)), "the README lists", listed)


def test_array_faked():
    said = ""
    for task in range(4):
        env = settings("array", SLURM_ARRAY_TASK_ID=str(10 + 2 * task), SLURM_ARRAY_TASK_MIN="10", SLURM_ARRAY_TASK_MAX="16",
                       SLURM_ARRAY_TASK_STEP="2", SLURM_ARRAY_TASK_COUNT="4", SLURM_NTASKS="1", SLURM_PROCID="0")
        status, text = start([script("slurm-array.sh")], env)
        check(status == 0, text)
        said += text
    check_whole("array", said, 4)
    status, text = start([script("slurm-array.sh")], settings("array2", SLURM_NTASKS="4", SLURM_PROCID="0"))
    check(status == 2 and "srun" in text and not found("array2"), "one process of four did something:", text)


def test_launchers_faked():
    for name, parts, more in (("slurm-gpu.sh", 3, {"FAKE_TASKS": "3", "SLURM_NTASKS": "3", "DEVICE": "cpu"}),
                              ("mpirun.sh", 5, {"PARTS": "5"}),
                              ("parallel.sh", 6, {"PARTS": "6"})):
        status, said = start([script(name)], settings(name, **more))
        check(status == 0, name, said)
        check_whole(name, said, parts)
        status, said = start([script(name)], settings(name, **more))
        check(status == 0 and said.count("by earlier runs") > 1, name, "does all again:", said)


def test_kubernetes_faked():
    text = read(script("kubernetes.yaml")).decode()
    try:
        import yaml
        job = yaml.safe_load(text)
        container = job["spec"]["template"]["spec"]["containers"][0]
        check(job["spec"]["completionMode"] == "Indexed" and container["command"] == ["imgpipe"], job)
        args, completions = container["args"], job["spec"]["completions"]
    except ImportError:
        args = json.loads(re.search(r"args: (\[.*\])", text).group(1))
        completions = int(re.search(r"completions: (\d+)", text).group(1))
    check(f"auto/{completions}" in args, "the number of parts is not that of the pods:", args, completions)
    places = {"/data/photos": "in", "/data/small/": "pods/", "gray,blur": CHAIN}
    said = ""
    for index in range(completions):
        result = run(*(places.get(word, word) for word in args), JOB_COMPLETION_INDEX=str(index))
        check(result.status == 0, result)
        said += result.err
    check_whole("pods", said, completions)


# ------------------------------------------------------------------------------------------------ the real ones


def test_mpirun_real():
    os.remove("bin/mpirun")
    if not shutil.which("mpirun"):
        print("SKIP mpirun is not there (openmpi-bin)")
        return
    # More ranks than processors is nothing that the script should ask for, but a machine for tests may have few.
    options = "--bind-to none --oversubscribe" + (" --allow-run-as-root" if os.geteuid() == 0 else "")
    status, said = start([script("mpirun.sh")], settings("mpi", PARTS="4", CPUS_PER_PART="1", MPIRUN_OPTIONS=options))
    check(status == 0, said)
    check_whole("mpi", said, 4)


def test_parallel_real():
    os.remove("bin/parallel")
    if not shutil.which("parallel"):
        print("SKIP parallel is not there")
        return
    status, said = start([script("parallel.sh")], settings("par", PARTS="5"))
    check(status == 0, said)
    check_whole("par", said, 5)


def test_slurm_real():
    os.remove("bin/srun")
    missing = cluster_slurm.missing()
    if missing:
        print("SKIP", missing)
        return
    with cluster_slurm.Slurm(os.path.abspath("slurm")) as slurm:
        env = {**settings("real"), **slurm.env}
        status, said = slurm.batch(["--array=0-3", "--cpus-per-task=1", script("slurm-array.sh")], env)
        check(status == 0, said)
        check_whole("real", said, 4)
        env = {**settings("real-gpu", DEVICE="cpu"), **slurm.env}
        status, said = slurm.batch(["--nodes=1", "--ntasks-per-node=3", "--gpus-per-node=3", "--cpus-per-task=1",
                                    script("slurm-gpu.sh")], env)
        check(status == 0, said)
        check_whole("real-gpu", said, 3)
        # A task that is killed in the middle, for which it must take some seconds; then the array is submitted again.
        noise("in", IMAGES, side=700)
        env = {**settings("killed"), **slurm.env, "CHAIN": "median=127," * 16 + CHAIN}
        run("in", "-f", env["CHAIN"], "--overwrite", "always", "want/")
        status, said = slurm.batch(["--array=0-3", "--cpus-per-task=1", script("slurm-array.sh")], env, kill=2)
        check(status != 0 and len(found("killed")) < IMAGES, "no task was killed:", status, said)
        status, said = slurm.batch(["--array=0-3", "--cpus-per-task=1", script("slurm-array.sh")], env)
        check(status == 0, said)
        check_whole("killed", said, 4, twice=True)


def main():
    Tally.long = "--long" in sys.argv[2:]
    tests = [name for name in globals() if name.startswith("test_") and (Tally.long or not name.endswith("_real"))]
    with tempfile.TemporaryDirectory(prefix="imgpipe-cluster-") as folder:
        os.chmod(folder, 0o755)  # munged wants to be sure of the folders above its socket
        os.chdir(folder)
        noise("in", IMAGES, side=120)
        run("in", "-f", CHAIN, "want/")
        os.mkdir("bin")
        for name, text in FAKES.items():
            with open(f"bin/{name}", "w", encoding="utf-8") as file:
                file.write("#!/bin/bash\n" + text + "\n")
            os.chmod(f"bin/{name}", 0o755)
        for name in tests:
            Tally.current = name
            globals()[name]()
        os.chdir("/")
    print(f"{Tally.checks} checks, {Tally.failures} failed")
    return 1 if Tally.failures or not Tally.checks else 0


if __name__ == "__main__":
    sys.exit(main())
