//===- CpuFeatures.cpp - What the host CPU can execute --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"

#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace echo;

#if defined(__x86_64__)

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// What the system must save on a context switch (XCR0) for a feature.
enum State : uint64_t {
  None = 0,
  Vectors = 0x6,      // xmm, ymm
  Wide = 0xe6,        // and opmask, zmm
  Tiles = 0x60000,    // tile configuration and data
  Extended = 0x80000, // general registers 16 to 31
};

/// A feature is a bit of a register that CPUID returns for leaf and subleaf.
struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  State state = None;
};

constexpr Feature kFeatures[] = {
    {"cx8", 1, 0, EDX, 8},
    {"cmov", 1, 0, EDX, 15},
    {"mmx", 1, 0, EDX, 23},
    {"fxsr", 1, 0, EDX, 24},
    {"sse", 1, 0, EDX, 25},
    {"sse2", 1, 0, EDX, 26},
    {"sse3", 1, 0, ECX, 0},
    {"pclmul", 1, 0, ECX, 1},
    {"ssse3", 1, 0, ECX, 9},
    {"fma", 1, 0, ECX, 12, Vectors},
    {"cx16", 1, 0, ECX, 13},
    {"sse4.1", 1, 0, ECX, 19},
    {"sse4.2", 1, 0, ECX, 20},
    {"crc32", 1, 0, ECX, 20},
    {"movbe", 1, 0, ECX, 22},
    {"popcnt", 1, 0, ECX, 23},
    {"aes", 1, 0, ECX, 25},
    {"xsave", 1, 0, ECX, 27},
    {"avx", 1, 0, ECX, 28, Vectors},
    {"f16c", 1, 0, ECX, 29, Vectors},
    {"rdrnd", 1, 0, ECX, 30},
    {"fsgsbase", 7, 0, EBX, 0},
    {"sgx", 7, 0, EBX, 2},
    {"bmi", 7, 0, EBX, 3},
    {"avx2", 7, 0, EBX, 5, Vectors},
    {"bmi2", 7, 0, EBX, 8},
    {"invpcid", 7, 0, EBX, 10},
    {"rtm", 7, 0, EBX, 11},
    {"avx512f", 7, 0, EBX, 16, Wide},
    {"avx512dq", 7, 0, EBX, 17, Wide},
    {"rdseed", 7, 0, EBX, 18},
    {"adx", 7, 0, EBX, 19},
    {"avx512ifma", 7, 0, EBX, 21, Wide},
    {"clflushopt", 7, 0, EBX, 23},
    {"clwb", 7, 0, EBX, 24},
    {"avx512cd", 7, 0, EBX, 28, Wide},
    {"sha", 7, 0, EBX, 29},
    {"avx512bw", 7, 0, EBX, 30, Wide},
    {"avx512vl", 7, 0, EBX, 31, Wide},
    {"avx512vbmi", 7, 0, ECX, 1, Wide},
    {"pku", 7, 0, ECX, 4},
    {"waitpkg", 7, 0, ECX, 5},
    {"avx512vbmi2", 7, 0, ECX, 6, Wide},
    {"shstk", 7, 0, ECX, 7},
    {"gfni", 7, 0, ECX, 8},
    {"vaes", 7, 0, ECX, 9, Vectors},
    {"vpclmulqdq", 7, 0, ECX, 10, Vectors},
    {"avx512vnni", 7, 0, ECX, 11, Wide},
    {"avx512bitalg", 7, 0, ECX, 12, Wide},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Wide},
    {"rdpid", 7, 0, ECX, 22},
    {"kl", 7, 0, ECX, 23},
    {"cldemote", 7, 0, ECX, 25},
    {"movdiri", 7, 0, ECX, 27},
    {"movdir64b", 7, 0, ECX, 28},
    {"enqcmd", 7, 0, ECX, 29},
    {"uintr", 7, 0, EDX, 5},
    {"avx512vp2intersect", 7, 0, EDX, 8, Wide},
    {"serialize", 7, 0, EDX, 14},
    {"tsxldtrk", 7, 0, EDX, 16},
    {"pconfig", 7, 0, EDX, 18},
    {"amx-bf16", 7, 0, EDX, 22, Tiles},
    {"avx512fp16", 7, 0, EDX, 23, Wide},
    {"amx-tile", 7, 0, EDX, 24, Tiles},
    {"amx-int8", 7, 0, EDX, 25, Tiles},
    {"sha512", 7, 1, EAX, 0, Vectors},
    {"sm3", 7, 1, EAX, 1, Vectors},
    {"sm4", 7, 1, EAX, 2, Vectors},
    {"raoint", 7, 1, EAX, 3},
    {"avxvnni", 7, 1, EAX, 4, Vectors},
    {"avx512bf16", 7, 1, EAX, 5, Wide},
    {"cmpccxadd", 7, 1, EAX, 7},
    {"amx-fp16", 7, 1, EAX, 21, Tiles},
    {"hreset", 7, 1, EAX, 22},
    {"avxifma", 7, 1, EAX, 23, Vectors},
    {"avxvnniint8", 7, 1, EDX, 4, Vectors},
    {"avxneconvert", 7, 1, EDX, 5, Vectors},
    {"amx-complex", 7, 1, EDX, 8, Tiles},
    {"avxvnniint16", 7, 1, EDX, 10, Vectors},
    {"prefetchi", 7, 1, EDX, 14},
    {"usermsr", 7, 1, EDX, 15},
    {"egpr", 7, 1, EDX, 21, Extended},
    {"xsaveopt", 0xd, 1, EAX, 0},
    {"xsavec", 0xd, 1, EAX, 1},
    {"xsaves", 0xd, 1, EAX, 3},
    {"ptwrite", 0x14, 0, EBX, 4},
    {"widekl", 0x19, 0, EBX, 2},
    {"sahf", 0x80000001, 0, ECX, 0},
    {"lzcnt", 0x80000001, 0, ECX, 5},
    {"sse4a", 0x80000001, 0, ECX, 6},
    {"prfchw", 0x80000001, 0, ECX, 8},
    {"xop", 0x80000001, 0, ECX, 11, Vectors},
    {"lwp", 0x80000001, 0, ECX, 15},
    {"fma4", 0x80000001, 0, ECX, 16, Vectors},
    {"tbm", 0x80000001, 0, ECX, 21},
    {"mwaitx", 0x80000001, 0, ECX, 29},
    {"64bit", 0x80000001, 0, EDX, 29},
    {"clzero", 0x80000008, 0, EBX, 0},
    {"rdpru", 0x80000008, 0, EBX, 4},
    {"wbnoinvd", 0x80000008, 0, EBX, 9},
};

/// XCR0, or 0 where the system doesn't use it.
uint64_t savedState() {
  uint32_t registers[4];
  constexpr uint32_t kOSXSave = 1u << 27;
  if (!__get_cpuid(1, &registers[EAX], &registers[EBX], &registers[ECX],
                   &registers[EDX]) ||
      !(registers[ECX] & kOSXSave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | uint64_t(high) << 32;
}

} // namespace

bool echo::hostHasFeature(std::string_view name) {
  for (const Feature &feature : kFeatures) {
    if (feature.name != name)
      continue;
    uint32_t registers[4] = {0, 0, 0, 0};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[EAX],
                           &registers[EBX], &registers[ECX], &registers[EDX]))
      return false;
    if (!(registers[feature.reg] >> feature.bit & 1))
      return false;
    return (savedState() & feature.state) == feature.state;
  }
  return false;
}

#else

bool echo::hostHasFeature(std::string_view) { return false; }

#endif

std::vector<std::string> echo::missingFeatures(std::string_view features) {
  std::vector<std::string> missing;
  while (!features.empty()) {
    size_t comma = features.find(',');
    std::string_view item = features.substr(0, comma);
    features.remove_prefix(comma == std::string_view::npos ? features.size()
                                                           : comma + 1);
    if (!item.empty() && item[0] == '+' && !hostHasFeature(item.substr(1)))
      missing.emplace_back(item.substr(1));
  }
  return missing;
}
