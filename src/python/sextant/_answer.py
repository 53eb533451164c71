# SPDX-License-Identifier: Apache-2.0
"""Answers: what a command says in JSON, as objects with attributes, and in its own words."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _core, _html

if TYPE_CHECKING:
    import pandas

Path = Union[str, os.PathLike]
Preset = Union[str, os.PathLike, Mapping[str, Any]]
Settings = Union[str, Sequence[str], Mapping[str, Any]]
Texts = Union[str, Sequence[str]]


class Record(Mapping):
    """A table of an answer: `record.total_bytes` and `record["total_bytes"]` are the same."""

    def __init__(self, data: Mapping[str, Any]):
        self._data = dict(data)

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._data[name])

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask for names before there is data.
        data = self.__dict__.get("_data", {})
        if name in data:
            return _wrapped(data[name])
        known = ", ".join(data) or "none"
        raise AttributeError(f"no field {name!r}; there are: {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return json.loads(json.dumps(self._data))


class Records(list):
    """Rows of an answer, each a Record."""

    def frame(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame; fields of fields become "memory.total_bytes"."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("frame() needs pandas (Debian: python3-pandas)") from error
        return pandas.DataFrame([_html.flat(row) for row in self])

    def _repr_html_(self) -> str:
        return _html.table(self)


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return Records(Record(item) for item in value)
    return value


class Answer(Record):
    """What a command answers. Its fields are those of `--format json`, in SI base units."""

    def __init__(self, command: str, request: dict[str, Any], data: Mapping[str, Any], text: str | None):
        super().__init__(data)
        self._command = command
        self._request = request  # less what writes files: that was done the first time
        self._text = text

    @property
    def text(self) -> str:
        """The answer as the program prints it."""
        if self._text is None:
            # Asked again, for other words: a prediction takes milliseconds.
            self._text = _core.run(self._command, json.dumps(self._request), "text")
        return self._text

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.answer(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):  # a number of numpy
        return value.item()
    return value


def _settings(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [f"{path}={new}" for path, new in value.items()]
    return value


def ask(
    command: str, arguments: Mapping[str, Any], lists: Sequence[str] = (), writes: Sequence[str] = ()
) -> Answer:
    """Runs a command. Arguments that are None were not given; one text stands for a list of it."""
    request = {}
    for name, value in arguments.items():
        if value is None:
            continue
        name = name.rstrip("_")
        value = _plain(_settings(value) if name == "set" else value)
        request[name] = [value] if name in lists and isinstance(value, str) else value
    said = _core.run(command, json.dumps(request), "json")
    again = {name: value for name, value in request.items() if name not in writes}
    try:
        data = json.loads(said)
    except ValueError:  # `show --fields` is a table whatever the format
        return Answer(command, again, {}, said)
    return Answer(command, again, data if isinstance(data, dict) else {"answers": data}, None)
