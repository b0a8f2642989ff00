#!/usr/bin/env python3
"""Runs `check` on emulated older CPUs, where an instruction that they lack ends the program. Without qemu-user: exit status 77.

usage: test_emulated.py CHECK IMGPIPE [ARGUMENT...]      arguments are handed to CHECK
"""
import shutil
import subprocess
import sys

# What each of these CPUs must be found to have.
CPUS = {"Nehalem": "baseline", "Haswell": "avx2"}


def main(check, program, *arguments):
    qemu = shutil.which("qemu-x86_64")
    if not qemu:
        print("there is no qemu-x86_64 (package qemu-user)")
        return 77
    failures = 0
    for cpu, isa in CPUS.items():
        devices = subprocess.run([qemu, "-cpu", cpu, program, "--list-devices"], stdout=subprocess.PIPE, text=True).stdout
        print(cpu, devices.strip())
        failures += isa not in devices
        failures += subprocess.run([qemu, "-cpu", cpu, check, *arguments]).returncode != 0
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
