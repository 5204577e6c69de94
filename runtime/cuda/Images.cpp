//===- Images.cpp - Which image a device takes ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Images.h"

#include <algorithm>
#include <charconv>
#include <string_view>

using namespace echo;
using namespace echo::cuda;

namespace {

/// "sm_90a" is {90, true}; {-1, false} for what isn't a chip of NVIDIA's.
struct Chip {
  int capability = -1;
  bool isAlone = false;
};

Chip parseChip(std::string_view name) {
  if (name.substr(0, 3) != "sm_")
    return {};
  Chip chip;
  const char *last = name.data() + name.size();
  auto [end, error] = std::from_chars(name.data() + 3, last, chip.capability);
  if (error != std::errc() || chip.capability < 0)
    return {};
  chip.isAlone = end != last && *end == 'a';
  return chip;
}

/// What an image is worth to a device; less than 0: nothing.
int worth(const Image &image, int capability) {
  constexpr int kExact = 1 << 20, kCubin = 1 << 10;
  auto kind = static_cast<ImageKind>(image.kind);
  if (kind == ImageKind::HostObject)
    return capability == 0 && std::string_view(image.chip) == "sim" ? 0 : -1;
  Chip chip = parseChip(image.chip);
  if (chip.capability < 0 || chip.capability > capability ||
      (chip.isAlone && chip.capability != capability))
    return -1;
  if (kind == ImageKind::PTX)
    return chip.capability * 2 + chip.isAlone;
  if (chip.capability / 10 != capability / 10)
    return -1;
  return (chip.capability == capability ? kExact : kCubin) +
         chip.capability * 2 + chip.isAlone;
}

} // namespace

std::string echo::cuda::chipName(int capability) {
  return capability == 0 ? "sim" : "sm_" + std::to_string(capability);
}

std::vector<const Image *>
echo::cuda::imagesFor(const std::vector<Image> &images, int capability) {
  std::vector<const Image *> found;
  for (const Image &image : images)
    if (worth(image, capability) >= 0)
      found.push_back(&image);
  std::sort(
      found.begin(), found.end(), [&](const Image *first, const Image *second) {
        int difference = worth(*first, capability) - worth(*second, capability);
        // Of equal ones the first.
        return difference != 0 ? difference > 0 : first < second;
      });
  return found;
}
