"""gpu-tests: runs everything that proves the cuda backend, judges it, and counts.

Exit code: 0 all passed; 1 something failed; 2 it could not begin; 3 nothing failed, but not all could be run.
"""

import argparse
import datetime
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bundle import Bundle, end_when_told  # pylint: disable=wrong-import-position
from parts import Suite  # pylint: disable=wrong-import-position
from report import Report  # pylint: disable=wrong-import-position


def arguments():
    parser = argparse.ArgumentParser(prog="gpu-tests", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("BALLAST_DATA"),
                        help="folder with MNIST's files, or with a folder mnist of them (default: $BALLAST_DATA);\n"
                             "without it the parts that need it are not run")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda",
                        help="the device under test; cpu rehearses these tests where there is no GPU")
    parser.add_argument("--runs", default="gpu-tests-runs", help="folder for the runs (default: ./gpu-tests-runs)")
    parser.add_argument("--json", help="file for the outcome as JSON (default: outcome.json in the folder of these runs)")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only parts whose name has this text in it")
    parser.add_argument("--skip", action="append", metavar="TEXT", default=[], help="not these")
    parser.add_argument("--limit", type=float, default=470, help="seconds for all of it (default: 470); what comes later is\n"
                                                                 "not run")
    parser.add_argument("--list", action="store_true", help="only name the parts")
    return parser.parse_args()


def cannot_begin(why):
    print(f"gpu-tests: {why}", file=sys.stderr)
    sys.exit(2)


def begin(options):
    """The folder of the bundle and that of these runs."""
    root = pathlib.Path(__file__).resolve().parents[2]
    if not (root / "bin" / "ballast").exists():
        cannot_begin(f"{root} is not a bundle: ./dev bundle makes one")
    if options.data is not None and not pathlib.Path(options.data).is_dir():
        cannot_begin(f"--data {options.data}: there is no such folder")
    name = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return root, pathlib.Path(options.runs).absolute() / f"{name}-{os.getpid()}"


def chosen(parts, options):
    """Those of (name, function) that --only and --skip leave."""
    found = [(name, part) for name, part in parts
             if (not options.only or any(text in name for text in options.only))
             and not any(text in name for text in options.skip)]
    if not found:
        cannot_begin("--only and --skip leave no part; --list names them")
    return found


def main():
    end_when_told()
    options = arguments()
    root, runs = begin(options)
    bundle = Bundle(root, options.backend, runs)
    data = pathlib.Path(options.data).absolute() if options.data else None
    parts = chosen(Suite(bundle, data, lambda: report.time_left()).parts(), options)
    if options.list:
        print("\n".join(name for name, _ in parts))
        return 0
    runs.mkdir(parents=True)
    facts = bundle.facts()
    report = Report({**facts, "runs": str(runs)}, options.limit)
    if facts["device"].startswith("NONE"):
        print("gpu-tests: there is no device to test")
        return 2
    for name, part in parts:
        report.run(name, part)
    report.write(options.json or runs / "outcome.json")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
