//===- Table.h - Numbers for a reader ---------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHOPLAN_TABLE_H
#define ECHO_TOOLS_ECHOPLAN_TABLE_H

#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlir::echo::plan {

/// "1234 B", "12.1 KiB", "3.41 MiB", "10.00 GiB"
std::string showBytes(uint64_t bytes);
/// "12.34 us", "1.20 ms", "3.456 s"
std::string showSeconds(double seconds);
/// What follows the number of recomputed ops: how many of them are in the
/// kernels that read them. Nothing where no op is recomputed.
std::string describeUnwritten(uint64_t recomputed, uint64_t unwritten);

/// Columns of text: the first to the left, the others to the right.
class Table {
public:
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace mlir::echo::plan

#endif // ECHO_TOOLS_ECHOPLAN_TABLE_H
