"""Weights of two runs whose updates were the same, in another order."""

import array
import json


def of_run(case, folder):
    """The run's final weights by parameter."""
    file = case.folder / f"{folder.name}.safetensors"
    case.ballast("export", folder, "-o", file)
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    weights = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in tensor["data_offsets"])
            weights[name] = array.array("f", content[begin:end])
    return weights


def expect_equal_sums(case, expected_folder, folder):
    """Of jobs.fixed: equal but for rounding. One item more or less moves nearly every weight a hundred times as far."""
    expected = of_run(case, expected_folder)
    found = of_run(case, folder)
    case.assertEqual(expected.keys(), found.keys())
    for name, values in expected.items():
        difference = max(abs(left - right) for left, right in zip(values, found[name]))
        case.assertLess(difference, 1e-5, name)
