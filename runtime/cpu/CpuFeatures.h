//===- CpuFeatures.h - What the host CPU can execute ------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_CPUFEATURES_H
#define ECHO_RUNTIME_CPU_CPUFEATURES_H

#include <string>
#include <string_view>
#include <vector>

namespace echo {

/// Whether this CPU (and system) has a feature, by LLVM's name ("avx2"). A
/// name that isn't known here counts as missing.
bool hostHasFeature(std::string_view name);

/// The features of a list like "+avx2,-sse4a,+fma" that are asked for with a
/// plus and that the host lacks, in their order.
std::vector<std::string> missingFeatures(std::string_view features);

} // namespace echo

#endif // ECHO_RUNTIME_CPU_CPUFEATURES_H
