//===- CallSlots.h - The addresses behind every call ------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_CALLSLOTS_H
#define ECHO_RUNTIME_COMMON_CALLSLOTS_H

#include "Memory.h"
#include "Program.h"

#include <cstring>

namespace echo {

/// Per call its operands' addresses, then a kernel's parameters, in
/// pointer-sized slots.
class CallSlots {
public:
  /// `regions` holds the address of every region. Takes the memory of an
  /// earlier call again.
  void resolve(const Program &program, const Vector<char *> &regions) {
    static_assert(sizeof(void *) == sizeof(int64_t),
                  "kernel parameters travel in pointer-sized slots");
    size_t total = 0;
    for (const Call &call : program.calls)
      total += call.numOperands + numParameters(call);
    slots.clear();
    firstSlot.clear();
    slots.reserve(total);
    firstSlot.reserve(program.calls.size());
    for (const Call &call : program.calls) {
      firstSlot.push_back(slots.size());
      for (uint32_t i = 0; i < call.numOperands; ++i) {
        const Location &operand = program.operands[call.firstOperand + i];
        slots.push_back(regions[operand.region] + operand.offset);
      }
      for (uint32_t i = 0; i < numParameters(call); ++i) {
        void *slot;
        std::memcpy(&slot, &program.parameters[call.firstParameter + i],
                    sizeof(slot));
        slots.push_back(slot);
      }
    }
  }

  void *const *of(size_t call) const { return slots.data() + firstSlot[call]; }
  /// How many there are before those of a call.
  size_t first(size_t call) const { return firstSlot[call]; }
  size_t size() const { return slots.size(); }

private:
  static uint32_t numParameters(const Call &call) {
    return call.kind == CallKind::Kernel ? call.numParameters : 0;
  }

  Vector<void *> slots;
  Vector<size_t> firstSlot;
};

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_CALLSLOTS_H
