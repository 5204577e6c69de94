//===- CudaImagesTest.cpp - Which image a device takes --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Images.h"

#include "gtest/gtest.h"

using namespace echo;
using namespace echo::cuda;

namespace {

constexpr uint64_t kCubin = static_cast<uint64_t>(ImageKind::Cubin);
constexpr uint64_t kPtx = static_cast<uint64_t>(ImageKind::PTX);
constexpr uint64_t kHost = static_cast<uint64_t>(ImageKind::HostObject);

/// "sm_80 sm_75p": the images for a capability, p for PTX.
std::string choose(const std::vector<Image> &images, int capability) {
  std::string text;
  for (const Image *image : imagesFor(images, capability))
    text += (text.empty() ? "" : " ") + std::string(image->chip) +
            (image->kind == kPtx ? "p" : "");
  return text;
}

const std::vector<Image> &all() {
  static const std::vector<Image> images = {
      {"sm_75", kCubin, "", 0},  {"sm_80", kCubin, "", 0},
      {"sm_86", kCubin, "", 0},  {"sm_90", kCubin, "", 0},
      {"sm_90a", kCubin, "", 0}, {"sm_75", kPtx, "", 0},
      {"sm_90", kPtx, "", 0},    {"sm_90a", kPtx, "", 0},
      {"sim", kHost, "", 0}};
  return images;
}

TEST(CudaImages, OwnCubinFirst) {
  EXPECT_EQ(choose(all(), 75), "sm_75 sm_75p");
  EXPECT_EQ(choose(all(), 86), "sm_86 sm_80 sm_75p");
  EXPECT_EQ(choose(all(), 90), "sm_90a sm_90 sm_90ap sm_90p sm_75p");
}

TEST(CudaImages, OlderMinorOfTheSameMajor) {
  EXPECT_EQ(choose(all(), 89), "sm_86 sm_80 sm_75p");
  // A cubin of a newer one isn't taken.
  EXPECT_EQ(choose(all(), 80), "sm_80 sm_75p");
}

TEST(CudaImages, NewestPtxOtherwise) {
  EXPECT_EQ(choose(all(), 100), "sm_90p sm_75p");
  EXPECT_EQ(choose(all(), 120), "sm_90p sm_75p");
  EXPECT_EQ(choose(all(), 70), "");
}

TEST(CudaImages, Simulator) {
  EXPECT_EQ(choose(all(), 0), "sim");
  EXPECT_EQ(choose({{"sm_90", kHost, "", 0}}, 0), "");
  EXPECT_EQ(choose({{"sim", kCubin, "", 0}}, 90), "");
}

TEST(CudaImages, EqualOnesInTheirOrder) {
  std::vector<Image> images = {{"sm_90", kPtx, "first", 0},
                               {"sm_90", kPtx, "second", 0}};
  std::vector<const Image *> found = imagesFor(images, 90);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], &images[0]);
  EXPECT_EQ(found[1], &images[1]);
}

TEST(CudaImages, NamesThatAreNone) {
  for (const char *chip : {"", "sm_", "sm_x", "gfx90a", "compute_90", "sm_-5"})
    EXPECT_EQ(choose({{chip, kPtx, "", 0}}, 90), "") << chip;
}

TEST(CudaImages, ChipNames) {
  EXPECT_EQ(chipName(0), "sim");
  EXPECT_EQ(chipName(120), "sm_120");
}

} // namespace
