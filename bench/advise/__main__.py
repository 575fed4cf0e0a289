"""Steps as `ballast advise` foretells them beside those that are measured: jobs on hosts of their own (network namespaces:
root, iproute2), bound by computing, links or processors. Rows for docs/measurements/advise.md.

    python3 bench/advise [NAME ...]
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import foretold  # pylint: disable=wrong-import-position

MB = 1e6
CASES = [
    foretold.Case("computing, 2 workers", 2, 8, 0.05, 125 * MB, 250 * MB),
    foretold.Case("computing, 4 workers", 4, 16, 0.05, 125 * MB, 500 * MB),
    foretold.Case("workers' links", 2, 4, 0.02, 20 * MB, 200 * MB),
    foretold.Case("the servers' link", 4, 8, 0.02, 60 * MB, 40 * MB),
    foretold.Case("the servers' link and computing", 4, 16, 0.05, 60 * MB, 60 * MB),
    foretold.Case("processors of the servers", 4, 8, 0.02, 125 * MB, 500 * MB, share=0.05),
    foretold.Case("items: computing", 2, 8, 0.05, 125 * MB, 500 * MB, items=True),
    foretold.Case("items: the servers' link", 4, 8, 0.02, 125 * MB, 100 * MB, items=True),
]


def main(names):
    why = foretold.cluster.unfit()
    if why:
        sys.exit(why)
    print("| bound by | foretold | measured | foretold / measured | advised workers | and what limits those |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        if names and not any(name in case.name for name in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            said, foretold_ms, measured_ms = foretold.compare(case, pathlib.Path(folder))
        limit = (said["limit"] or {}).get("what", "nothing" if said["limit_is_known"] else "not looked for")
        print(f"| {case.name} | {foretold_ms:.0f} ms | {measured_ms:.0f} ms | {foretold_ms / measured_ms:.2f} | "
              f"{said['advised']['workers']} of {case.workers} | {limit} |",
              flush=True)


main(sys.argv[1:])
