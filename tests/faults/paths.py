# SPDX-License-Identifier: Apache-2.0
"""The table of paths."""
import pathlib

import command_paths
import plugin_paths

ALL = plugin_paths.PATHS + command_paths.PATHS


def without_path():
    """The plugins that no path runs."""
    folders = pathlib.Path(__file__).parents[2].glob("plugins/*/CMakeLists.txt")
    return sorted({f"execcred-{file.parent.name}" for file in folders} -
                  {path.program for path in ALL})
