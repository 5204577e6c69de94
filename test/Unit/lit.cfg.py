import os
import sys

import lit.formats

config.name = "Echo-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.echo_binary_dir, "unittests")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.environment["ECHO_SOURCE_DIR"] = config.echo_source_dir
for name in ("HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
sys.path.insert(0, os.path.join(config.echo_source_dir, "test"))
import sanitizers
sanitizers.configure(config)
