"""Which columns make a good partition key, and how to make one of several.

For programs: `KeyDesign` builds keys and takes them apart, `prove` says what a design does to the
order of rows. Start at `key.py`; `widerow keys --help` is the same for files. The package reads
files and uses no server; the engine defines partitions and when they split.
"""

from widerow.keydesign.alphabet import Alphabet
from widerow.keydesign.key import (
    HashPrefix,
    KeyDesign,
    KeyDesignInvalid,
    KeyPart,
    KeyRefused,
    PartKind,
)
from widerow.keydesign.order import compare_orders
from widerow.keydesign.proof import prove

__all__ = [
    "Alphabet",
    "HashPrefix",
    "KeyDesign",
    "KeyDesignInvalid",
    "KeyPart",
    "KeyRefused",
    "PartKind",
    "compare_orders",
    "prove",
]
