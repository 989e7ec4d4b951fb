"""Compile the kernels while bivaluate is installed, so that no command has to wait for the compiler.

Nothing but numba is needed. Where it fails, the package is installed without: each kernel is then compiled when it is
first called. `HATCH_BUILD_NO_HOOKS=true` leaves it out. Machine code is made for the processor of this machine; for
wheels to be used on others, set numba's own `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The folder is put on the path here: pip drops it from that of the build where it is installed as editable already.
COMPILE = """
import sys
sys.path.insert(0, sys.argv[1])
from bivaluate._files import SHIPPED
from bivaluate._jit import is_shipped, ship
if not is_shipped():
    from bivaluate.cli.doctor import compile_all
    compile_all()
    ship(SHIPPED)
"""


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into the source folder, from where wheels and editable installations take it."""
        source = Path(self.root) / "src"
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                [sys.executable, "-c", COMPILE, str(source)],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                stdout=subprocess.DEVNULL,
                check=False,
            )
        if done.returncode:
            shutil.rmtree(source / "bivaluate" / "_compiled", ignore_errors=True)
            self.app.display_warning("The kernels could not be compiled now: each will be when it is first called.")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append("/src/bivaluate/_compiled/*")
