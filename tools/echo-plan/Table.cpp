//===- Table.cpp - Numbers for a reader -----------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::echo;
using llvm::StringRef;

std::string plan::showBytes(uint64_t bytes) {
  if (bytes < 10240)
    return std::to_string(bytes) + " B";
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024; value /= 1024)
    ++unit;
  return llvm::formatv("{0:f2} {1}", value, units[unit]);
}

std::string plan::showSeconds(double seconds) {
  if (seconds < 1e-3)
    return llvm::formatv("{0:f2} us", seconds * 1e6);
  if (seconds < 1)
    return llvm::formatv("{0:f2} ms", seconds * 1e3);
  return llvm::formatv("{0:f3} s", seconds);
}

std::string plan::describeUnwritten(uint64_t recomputed, uint64_t unwritten) {
  if (recomputed == 0)
    return "";
  return llvm::formatv(", {0} of them in the kernels that read them",
                       unwritten);
}

void plan::Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (auto [width, cell] : llvm::zip(widths, row))
      width = std::max(width, cell.size());
  }
  for (const auto &row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    os << StringRef(line).rtrim() << "\n";
  }
}
