"""Measures what slow, stopped, badly connected, killed and drained workers cost: docs/measurements/stragglers.md."""

import argparse
import json
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cases  # pylint: disable=wrong-import-position
import cluster  # pylint: disable=wrong-import-position
import kills  # pylint: disable=wrong-import-position
import table  # pylint: disable=wrong-import-position
import throughput  # pylint: disable=wrong-import-position


def options():
    parser = argparse.ArgumentParser(
        prog="bench/stragglers", description=__doc__,
        epilog="Programs are taken from $BALLAST_BUILD, else build/. Needs root and iproute2. cases: "
               + ", ".join([*cases.CASES, *cases.KILLS, *cases.DRAINS]))
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--variants", default="off,balancing,redistribution,both",
                        help=f"with commas between; of {', '.join(cases.VARIANTS)}. Default: all but today")
    parser.add_argument("--quick", action="store_true", help="a minute a case: few steps, one period of the fault")
    parser.add_argument("--repetitions", type=int, default=5, help="kills of each kind (default 5)")
    parser.add_argument("--json", metavar="FILE", help="append each row as a line of JSON")
    parser.add_argument("--table", metavar="FILE", nargs="+", help="measure nothing: print the rows of these files")
    parser.add_argument("--keep", action="store_true", help="keep the folders with logs")
    return parser


def measured(name, variant, wanted):
    if name in cases.CASES:
        return throughput.Measurement(name, variant, wanted.quick, wanted.keep).run()
    if name in cases.KILLS:
        return kills.Kills(name, variant, wanted.repetitions, wanted.keep).run()
    return kills.Drains(name, variant, wanted.repetitions, wanted.keep).run()


def main():
    parser = options()
    wanted = parser.parse_args()
    if wanted.table:
        table.show(json.loads(line) for file in wanted.table for line in pathlib.Path(file).read_text().splitlines())
        return 0
    known = [*cases.CASES, *cases.KILLS, *cases.DRAINS]
    variants = wanted.variants.split(",")
    for what, given, allowed in (("case", wanted.cases, known), ("variant", variants, cases.VARIANTS)):
        for word in given:
            if word not in allowed:
                parser.error(f"{what} {word} is unknown; there are {', '.join(allowed)}")
    if (reason := cluster.unfit()) is not None:
        print(f"stragglers: {reason}", file=sys.stderr)
        return cluster.harness.CANNOT_BE_TRIED
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    rows = []
    for name in wanted.cases or known:
        for variant in variants:
            try:
                row = measured(name, variant, wanted)
            except RuntimeError as failure:
                print(f"stragglers: {name} with {variant}: {failure}", file=sys.stderr)
                return 1
            rows.append(row)
            if wanted.json:
                with open(wanted.json, "a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
            table.show([row], head=len(rows) == 1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
