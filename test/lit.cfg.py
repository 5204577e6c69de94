import os
import shutil
import sys

import lit.formats

config.name = "Echo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".py"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.echo_binary_dir, "test")

tools = os.path.join(config.echo_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "")
config.substitutions.append(("%echo_src", config.echo_source_dir))
config.substitutions.append(("%echo_bin", config.echo_binary_dir))
config.substitutions.append(("%python", sys.executable))

if shutil.which("ptxas"):
    config.available_features.add("ptxas")
