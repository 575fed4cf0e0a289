"""What a process tells on its metrics page."""

import re
import urllib.request

import harness


def scrape(address):
    """The page, past any proxy: it is on this machine."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=harness.PATIENCE) as page:
        return page.read().decode()


def of(run, role, index=0):
    """The page of a run's process."""
    return scrape(run.entry(role, index)["addresses"]["metrics"])


def values(page, name, **labels):
    """Of all series of that name with these labels."""
    return [float(number) for text, number in re.findall(rf"^{name}(\{{[^}}]*\}})? (\S+)$", page, re.M)
            if all(f'{key}="{word}"' in text for key, word in labels.items())]


def value(page, name, **labels):
    """Their sum; there is one at least."""
    found = values(page, name, **labels)
    assert found, (name, labels)
    return sum(found)
