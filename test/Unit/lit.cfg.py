import os

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
if config.echo_sanitize:
    # The packaged libraries are not instrumented: their containers carry no
    # annotations, and LLVM keeps what it allocates once.
    config.environment["ASAN_OPTIONS"] = "detect_container_overflow=0"
    config.environment["LSAN_OPTIONS"] = "suppressions=" + os.path.join(
        config.echo_source_dir, "cmake", "lsan-suppressions.txt")
    config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
