"""A real Slurm of one node, this machine, in a folder of its own: munged, slurmctld and slurmd, ended at the end."""
import os
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
CONFIG = """ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={port}
SlurmdPort={second}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
KillWait=2
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 Gres=gpu:4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def missing():
    """Why there can be no Slurm here, or nothing."""
    lacking = [name for name in PROGRAMS if not find(name)]
    if lacking:
        return f"{', '.join(lacking)}: not there (slurm-wlm, munge)"
    return "" if os.geteuid() == 0 else "only root can start a Slurm"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    def __init__(self, folder):
        self.folder, self.host, self.processes = folder, socket.gethostname().split(".")[0], []
        self.env = {"SLURM_CONF": os.path.join(folder, "slurm.conf")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def daemon(self, name, *args):
        with open(self.path(name + ".out"), "wb") as log:
            self.processes.append(subprocess.Popen([find(name), *args], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   env={**os.environ, **self.env}))

    def ask(self, *command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, env={**os.environ, **self.env}).stdout

    def __enter__(self):
        for name in ("", "state", "spool", "jobs"):
            os.makedirs(self.path(name), mode=0o755, exist_ok=True)
        with open(self.path("munge.key"), "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(os.urandom(128))
        with open(self.path("slurm.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(host=self.host, folder=self.folder, port=free_port(), second=free_port()))
        with open(self.path("gres.conf"), "w", encoding="utf-8") as file:
            # Slurm wants device files for GPUs, whatever they are; the tasks compute on the CPU.
            file.writelines(f"Name=gpu File=/dev/{name}\n" for name in ("null", "zero", "full", "random"))
        self.daemon("munged", "--foreground", "--force", "--key-file=" + self.path("munge.key"),
                    "--socket=" + self.path("munge.socket"), "--pid-file=" + self.path("munged.pid"),
                    "--log-file=" + self.path("munged.log"), "--seed-file=" + self.path("munged.seed"))
        for _ in range(100):
            if os.path.exists(self.path("munge.socket")):
                break
            time.sleep(0.1)
        self.daemon("slurmctld", "-D", "-f", self.env["SLURM_CONF"])
        self.daemon("slurmd", "-D", "-f", self.env["SLURM_CONF"], "-N", self.host)
        for _ in range(150):
            if "State=IDLE" in self.ask("scontrol", "show", "node", self.host):
                return self
            time.sleep(0.2)
        logs = [self.path(name) for name in ("munged.out", "slurmctld.log", "slurmd.log") if os.path.exists(self.path(name))]
        said = "".join(open(log, errors="replace", encoding="utf-8").read()[-1500:] for log in logs)
        self.__exit__()
        raise RuntimeError("Slurm does not start: " + said)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def batch(self, args, env, kill=None):
        """Submits, waits for the end, and returns sbatch's status and what the tasks said. `kill`: this task of an array gets
        SIGKILL once it is at work."""
        shutil.rmtree(self.path("jobs"))
        os.mkdir(self.path("jobs"))
        output = self.path("jobs/%x-%A-%a.out")
        command = ["sbatch", "--wait", "--parsable", "--output=" + output, "--error=" + output, "--chdir=" + self.folder, *args]
        with open(self.path("sbatch.out"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
            if kill is not None:
                self.kill_task(env["OUT"], kill)
            status = process.wait(timeout=300)
            log.seek(0)
            said = log.read()
        for name in sorted(os.listdir(self.path("jobs"))):
            with open(self.path("jobs/" + name), errors="replace", encoding="utf-8") as file:
                said += file.read()
        return status, said

    def kill_task(self, out, task):
        for _ in range(600):
            time.sleep(0.05)
            with open(self.path("sbatch.out"), encoding="utf-8") as file:
                number = file.read().strip()
            running = number.isdigit() and f"{number}_{task}" in self.ask("squeue", "-h", "-r", "-t", "R", "-o", "%i").split()
            if running and os.path.isdir(out) and len(os.listdir(out)) > 3:
                self.ask("scancel", "--full", "--signal=KILL", f"{number}_{task}")
                return
