"""Makes the page a part of the program: embed.py OUT.cpp PAGE.html STYLE.css SCRIPT.js ... One file with its style and its
scripts, as one, inside. Both are allowed by their digests alone, so that a browser runs nothing else, whatever a name in
the page says."""

import base64
import hashlib
import pathlib
import re
import sys


def digest_of(element, page):
    """What a Content-Security-Policy allows that one element by."""
    (content,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"


def literal(text):
    """Adjacent raw literals: one is not to be longer than compilers must take."""
    pieces = [text[at:at + 8000] for at in range(0, len(text), 8000)]
    return "\n".join(f'R"~page~({piece})~page~"' for piece in pieces)


def read(file):
    return pathlib.Path(file).read_text(encoding="utf-8")


def whole_page(page, style, scripts):
    script = '"use strict";\n' + "\n".join(map(read, scripts))
    text = read(page).replace("<style></style>", f"<style>{read(style)}</style>")
    return text.replace("<script></script>", f"<script>{script}</script>")


def main():
    page = whole_page(sys.argv[2], sys.argv[3], sys.argv[4:])
    pathlib.Path(sys.argv[1]).write_text(
        '#include "server/page/page_html.h"\n\nnamespace ballast {\n\n'
        f"const std::string_view kPageHtml =\n{literal(page)};\n"
        f"const std::string_view kPageStyle = {literal(digest_of('style', page))};\n"
        f"const std::string_view kPageScript = {literal(digest_of('script', page))};\n\n"
        "}  // namespace ballast\n", encoding="utf-8")


if __name__ == "__main__":
    main()
