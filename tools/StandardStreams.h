//===- StandardStreams.h - Streams that a tool is started with --*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_STANDARDSTREAMS_H
#define ECHO_TOOLS_STANDARDSTREAMS_H

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace mlir::echo {

/// Where a standard stream is closed, the next file that is opened would take
/// its place, and be written to by every message. Opens it so that writing to
/// it fails. To be called first.
inline void protectStandardStreams() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (fcntl(file, F_GETFD) < 0)
      (void)open("/dev/null", O_RDONLY);
}

/// Makes the limit on the size of files (ulimit -f) an error of writing, as a
/// full disk is. To be called after LLVM's handlers are installed.
inline void reportFileSizeLimit() { std::signal(SIGXFSZ, SIG_IGN); }

} // namespace mlir::echo

#endif // ECHO_TOOLS_STANDARDSTREAMS_H
