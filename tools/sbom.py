#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program is made of: a bill of materials (SPDX 2.3, JSON) and the packages' copyright file.

Usage: sbom.py PROGRAM VERSION UI-DIST OUTPUT-FOLDER

Linked libraries are read off the program, their versions and licences off Debian's database; packages of the page off
the list that its build writes. The same program gives the same bytes: the time is SOURCE_DATE_EPOCH's, or none is said.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# Compiled in from headers, so no loader knows of them: Debian's package and its licence.
HEADERS = {"libcli11-dev": "BSD-3-Clause"}
# What Debian's copyright files call these, as SPDX does.
LICENCES = {"libfmt9": "MIT", "libnlopt0": "LGPL-2.1-or-later", "libsqlite3-0": "blessing", "zlib1g": "Zlib",
            "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1", "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
            "libc6": "LGPL-2.1-or-later", "libtomlplusplus3": "MIT", "libssl3": "Apache-2.0", "libbrotli1": "MIT", "libcpp-httplib0.11": "MIT"}


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def debian_package(path):
    """The package a file is of; its folder may be a link into /usr."""
    for candidate in (path, os.path.realpath(path), "/usr" + path):
        found = output_of("dpkg", "-S", candidate)
        if found:
            return found.split(":")[0]
    return None


def linked(program):
    paths = re.findall(r"=> (/\S+)", output_of("ldd", program))
    names = {debian_package(path) for path in paths} - {None}
    return {name: LICENCES.get(name, "NOASSERTION") for name in names}


def debian_version(name):
    return output_of("dpkg-query", "-W", "-f", "${Version}", name).strip()


def entry(name, version, licence, location):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}"), "name": name,
            "versionInfo": version, "licenseDeclared": licence, "licenseConcluded": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "copyrightText": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": location}]}


def components(program, dist):
    parts = []
    for name, licence in sorted({**HEADERS, **linked(program)}.items()):
        version = debian_version(name)
        if version:
            parts.append(entry(name, version, licence, f"pkg:deb/debian/{name}@{version}"))
    listed = dist / "packages.json"
    for part in json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else []:
        parts.append(entry(part["name"], part["version"], part["license"],
                           f"pkg:npm/{part['name'].replace('@', '%40')}@{part['version']}"))
    return parts


def bill(version, parts):
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    whole = entry("sextant", version, "Apache-2.0", f"pkg:generic/sextant@{version}")
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": whole["SPDXID"]}]
    relations += [{"spdxElementId": whole["SPDXID"], "relationshipType": "CONTAINS" if "npm" in
                   part["externalRefs"][0]["referenceLocator"][:8] else "DEPENDS_ON",
                   "relatedSpdxElement": part["SPDXID"]} for part in parts]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sextant-{version}",
            "documentNamespace": f"urn:sextant:{version}:{digest}",
            "creationInfo": {"created": created, "creators": ["Tool: tools/sbom.py"]},
            "packages": [whole] + parts, "relationships": relations}


def main():
    program, version, dist, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    parts = components(program, dist)
    text = json.dumps(bill(version, parts), indent=1) + "\n"
    (folder / "sextant.spdx.json").write_text(text, encoding="utf-8")
    notices = dist / "notices.txt"
    copyright_text = ("Sextant is licensed under the Apache License 2.0, which on Debian systems is in\n"
                      "/usr/share/common-licenses/Apache-2.0.\n")
    if notices.exists():
        copyright_text += "\nIts page, compiled into the program, contains the following packages.\n\n"
        copyright_text += notices.read_text(encoding="utf-8")
    (folder / "copyright").write_text(copyright_text, encoding="utf-8")


if __name__ == "__main__":
    main()
