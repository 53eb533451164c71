# SPDX-License-Identifier: Apache-2.0
"""How fast, in how much memory, and why, a large language model trains or serves.

    >>> import sextant
    >>> step = sextant.train(model="gpt3-175b", system="dgx-a100", gpus=64, tp=8, pp=8)
    >>> step.step_seconds, step.memory.fits
    >>> print(step)

Each command of the program is a function; its flags are keyword arguments with '_' for '-'. A model,
a system, a runtime or a device may be a name, a path, or a dictionary: a model's is a Hugging Face
config, the others are tables as `sextant show NAME --toml` prints them.
"""
from . import ops
from . import _commands
from ._answer import Answer, Record, Records
from ._commands import *  # noqa: F401,F403  (one name a command)
from ._core import InputError
from ._core import version as __version__

__all__ = [*_commands.__all__, "ops", "Answer", "InputError", "Record", "Records"]
