# SPDX-License-Identifier: Apache-2.0
"""The table of paths."""
import command_paths
import plugin_paths

ALL = plugin_paths.PATHS + command_paths.PATHS
