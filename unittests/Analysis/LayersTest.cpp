//===- LayersTest.cpp - Tests of layer names ------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/Layers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

TEST(LayersTest, GroupsLeaveOutTimeSteps) {
  EXPECT_EQ(layerGroup("decoder/lstm0/t3", 0), "decoder/lstm0");
  EXPECT_EQ(layerGroup("decoder/t3/attention", 0), "decoder/attention");
  EXPECT_EQ(layerGroup("t12", 0), "");
  // Not time steps.
  EXPECT_EQ(layerGroup("table/t/t3x/tt3", 0), "table/t/t3x/tt3");
}

TEST(LayersTest, GroupsHaveADepth) {
  EXPECT_EQ(layerGroup("encoder/lstm0/fw/input", 2), "encoder/lstm0");
  EXPECT_EQ(layerGroup("encoder/t0/lstm0/fw", 2), "encoder/lstm0");
  EXPECT_EQ(layerGroup("encoder", 2), "encoder");
  EXPECT_EQ(layerGroup("", 2), "");
}

TEST(LayersTest, NamesComeFromLocations) {
  MLIRContext context;
  Builder builder(&context);
  Location file = FileLineColLoc::get(&context, "m.mlir", 3, 5);
  Location name = NameLoc::get(builder.getStringAttr("a/b"), file);
  EXPECT_EQ(layerName(name), "a/b");
  EXPECT_EQ(layerName(FusedLoc::get(&context, {file, name})), "a/b");
  EXPECT_EQ(layerName(CallSiteLoc::get(name, file)), "a/b");
  EXPECT_EQ(layerName(file), "");
  EXPECT_EQ(describeLocation(name), "a/b");
  EXPECT_EQ(describeLocation(file), "m.mlir:3:5");
  EXPECT_EQ(describeLocation(FusedLoc::get(&context, {file})), "m.mlir:3:5");
  EXPECT_EQ(describeLocation(UnknownLoc::get(&context)), "unknown");
}

} // namespace
