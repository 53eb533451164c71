#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package of a build folder as a wheel (PEP 427), without any tool but Python.

Usage: wheel.py PACKAGE-FOLDER VERSION OUTPUT-FOLDER

It holds the compiled module, so it is for one version of Python on one kind of machine, and like the .deb it uses the
system's shared libraries. The same build gives the same bytes: times are SOURCE_DATE_EPOCH's.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import time
import zipfile

METADATA = """Metadata-Version: 2.1
Name: sextant
Version: {version}
Summary: How long a step of training or inference takes, what memory it needs, what bounds it
License: Apache-2.0
Requires-Python: =={python}.*
Description-Content-Type: text/markdown

{description}
"""

WHEEL = """Wheel-Version: 1.0
Generator: tools/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def tag():
    """cp311-cp311-linux_aarch64: Python, its ABI, the machine."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{version}-{version}-{machine}"


def description():
    """What the package says of itself: its docstring."""
    text = (pathlib.Path(__file__).parent.parent / "src/python/sextant/__init__.py").read_text()
    found = re.search(r'"""(.*?)"""', text, re.S)
    return found.group(1).strip() if found else ""


def contents(package, version):
    """Every file of the wheel but its record, by path."""
    files = {}
    for path in sorted(package.iterdir()):
        if path.suffix in (".py", ".pyi", ".so") or path.name == "py.typed":
            files[f"sextant/{path.name}"] = path.read_bytes()
    if not any(name.endswith(".so") for name in files):
        sys.exit(f"{package}: there is no compiled module; build with -DSEXTANT_PYTHON=ON")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    info = f"sextant-{version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(version=version, python=python, description=description()).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag()).encode()
    licence = pathlib.Path(__file__).parent.parent / "LICENSE"
    files[f"{info}/LICENSE"] = licence.read_bytes()
    return files


def record(files, version):
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    own = f"sextant-{version}.dist-info/RECORD"
    return own, "\n".join([*lines, f"{own},,"]) + "\n"


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: wheel.py PACKAGE-FOLDER VERSION OUTPUT-FOLDER")
    package, version, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    files = contents(package, version)
    own, text = record(files, version)
    files[own] = text.encode()
    # A zip's times begin in 1980.
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))[:6]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"sextant-{version}-{tag()}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main()
