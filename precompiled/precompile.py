"""precompile.py HEADER OUTPUT DEPFILE TARGET...: precompiles HEADER with the flags that TARGET, a library, is compiled with.

More words change nothing: what is made anew when they change.
"""

import json
import os
import shlex
import subprocess
import sys


def command_of(target):
    prefix = os.path.relpath(target) + ".p/"
    with open("compile_commands.json", encoding="utf-8") as commands:
        for entry in json.load(commands):
            if os.path.relpath(entry["output"]).startswith(prefix):
                return shlex.split(entry["command"])
    raise SystemExit(f"precompile.py: no command compiles {target}")


# The compiler and its flags, without a cache, which is of no use for what is made once.
def flags_of(command):
    words = iter(command[1:] if os.path.basename(command[0]).startswith("ccache") else command)
    kept = []
    for word in words:
        if word in ("-c", "-o", "-MQ", "-MF", "-include"):
            next(words)
        elif word != "-MD":
            kept.append(word)
    return kept


def main(header, output, depfile, target, *_):
    words = flags_of(command_of(target))
    half = output + ".half"  # nobody reads what is half written
    # -w: #pragma once in what it takes for the main file.
    words += ["-w", "-MD", "-MQ", output, "-MF", depfile, "-x", "c++-header", header, "-o", half]
    subprocess.run(words, check=True)
    os.replace(half, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
