"""Masked diffusion language models, by the program mdmgen, which this package carries.

    import mdmgen

    with mdmgen.load() as model:
        for sample in model.generate("Once upon a time", length=40, n=3, seed=7):
            print(sample.text)

Settings have the names of the program's flags, with _ for -, and of the keys of its input lines:
`mdmgen generate --help-all`, `mdmgen samplers`. Logarithms are natural.
"""

from ._answers import Frame, Gap, Reading, Sample, Score
from ._model import Model, load
from ._program import Error, MissingError, UsageError, bench, bound, program

__all__ = [
    "Error",
    "Frame",
    "Gap",
    "MissingError",
    "Model",
    "Reading",
    "Sample",
    "Score",
    "UsageError",
    "bench",
    "bound",
    "load",
    "program",
]
