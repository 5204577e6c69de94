//===- Layers.cpp - Names of layers ---------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/Layers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

StringRef mlir::echo::layerName(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName();
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return layerName(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = layerName(part); !name.empty())
        return name;
  return "";
}

static bool isTimeStep(StringRef component) {
  return component.consume_front("t") && !component.empty() &&
         llvm::all_of(component, llvm::isDigit);
}

std::string mlir::echo::layerGroup(StringRef name, unsigned depth) {
  std::string group;
  unsigned count = 0;
  for (StringRef component : llvm::split(name, '/')) {
    if (isTimeStep(component))
      continue;
    if (depth != 0 && count == depth)
      break;
    if (count++ != 0)
      group += '/';
    group += component;
  }
  return group;
}

static std::optional<std::string> findFile(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return findFile(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::optional<std::string> place = findFile(part))
        return place;
  return std::nullopt;
}

std::string mlir::echo::describeLocation(Location location) {
  if (StringRef name = layerName(location); !name.empty())
    return name.str();
  return findFile(location).value_or("unknown");
}
