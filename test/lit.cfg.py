import os
import shutil
import sys

import lit.formats

config.name = "Echo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".py"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "sanitizers.py", "Inputs",
                   "CMakeLists.txt", "golden"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.echo_binary_dir, "test")

tools = os.path.join(config.echo_binary_dir, "bin")
cuda_bin = "/usr/local/cuda/bin"
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools_dir, os.environ.get("PATH", ""), cuda_bin])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "")
# Nothing of the user's.
config.environment["ECHO_CACHE_DIR"] = os.path.join(config.test_exec_root,
                                                    "cache")
for name in ("HOME", "CCACHE_DIR", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

sys.path.insert(0, config.test_source_root)
import sanitizers
sanitizers.configure(config)
if config.echo_sanitize:
    # A program that holds our libraries holds the sanitizers' functions.
    config.c_compiler += " -fsanitize=" + config.echo_sanitize

config.substitutions += [
    ("%echo_src", config.echo_source_dir),
    ("%echo_bin", config.echo_binary_dir),
    ("%echo_lib", os.path.join(config.echo_binary_dir, "lib")),
    ("%mlir_opt", os.path.join(config.llvm_tools_dir, "mlir-opt")),
    ("%mlir_lib", os.path.join(config.llvm_tools_dir, "..", "lib")),
    ("%mlir_include", os.path.join(config.llvm_tools_dir, "..", "include")),
    ("%mlir_cmake_dir", config.mlir_cmake_dir),
    ("%cmake", config.cmake),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
    ("%python", sys.executable),
]

# Tests that build something build it once.
if shutil.which("ccache"):
    config.environment["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
    config.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"

# What a test may ask for with REQUIRES or UNSUPPORTED.
path = config.environment["PATH"]
if config.link_mlir_dylib:
    config.available_features.add("mlir-dylib")
if shutil.which("ptxas", path=path):
    config.available_features.add("ptxas")
if shutil.which("nvcc", path=path):
    config.available_features.add("cuda-toolkit")
