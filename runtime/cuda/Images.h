//===- Images.h - Which image a device takes ---------------------*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_IMAGES_H
#define ECHO_RUNTIME_CUDA_IMAGES_H

#include "Program.h"

#include <string>
#include <vector>

namespace echo::cuda {

/// The images that a device of this compute capability (90 for 9.0) can take,
/// best first: its own cubin, those of the same major version with a lower
/// minor one, newest first, then PTX for its capability and older, newest
/// first. What is compiled for one architecture alone ("sm_90a") serves no
/// other. Capability 0 stands for the simulator's chip, "sim".
std::vector<const Image *> imagesFor(const std::vector<Image> &images,
                                     int capability);

/// "sm_90", or "sim" for 0.
std::string chipName(int capability);

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_IMAGES_H
