# SPDX-License-Identifier: Apache-2.0
from typing import TypedDict

class Diagnostic(TypedDict):
    file: str
    line: int
    column: int
    field: str
    message: str
    hint: str

class InputError(ValueError):
    diagnostics: list[Diagnostic]

version: str

def run(command: str, request: str, format: str) -> str: ...
