"""`tests.fuzz` is a folder of the repository, not a package that is installed."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
