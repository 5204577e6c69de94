//===- ShapesTest.cpp - Shape logic ---------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Shapes.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::echo;

namespace {

using Shape = SmallVector<int64_t>;
constexpr int64_t kDynamic = ShapedType::kDynamic;

TEST(Shapes, Print) {
  EXPECT_EQ(shapeToString({}), "[]");
  EXPECT_EQ(shapeToString({2, kDynamic, 0}), "[2, ?, 0]");
}

TEST(Shapes, Broadcast) {
  EXPECT_EQ(broadcastShapes({}), Shape({}));
  EXPECT_EQ(broadcastShapes({{2, 1}, {3}}), Shape({2, 3}));
  EXPECT_EQ(broadcastShapes({{1, 4}, {5, 1, 1}, {}}), Shape({5, 1, 4}));
  EXPECT_EQ(broadcastShapes({{0}, {1}}), Shape({0}));
  EXPECT_EQ(broadcastShapes({{kDynamic}, {3}}), Shape({3}));
  EXPECT_EQ(broadcastShapes({{kDynamic}, {1}}), Shape({kDynamic}));
  EXPECT_EQ(broadcastShapes({{2}, {3}}), std::nullopt);
  EXPECT_EQ(broadcastShapes({{0}, {3}}), std::nullopt);
}

TEST(Shapes, IsBroadcastableTo) {
  EXPECT_TRUE(isBroadcastableTo({}, {2, 3}));
  EXPECT_TRUE(isBroadcastableTo({1, 3}, {2, 3}));
  EXPECT_TRUE(isBroadcastableTo({kDynamic}, {2, 3}));
  EXPECT_FALSE(isBroadcastableTo({2}, {2, 3}));
  EXPECT_FALSE(isBroadcastableTo({1, 3}, {3}));
  EXPECT_FALSE(isBroadcastableTo({3}, {1}));
}

TEST(Shapes, Join) {
  EXPECT_EQ(joinShapes({2, kDynamic}, {kDynamic, 3}), Shape({2, 3}));
  EXPECT_EQ(joinShapes({2}, {3}), std::nullopt);
  EXPECT_EQ(joinShapes({2}, {2, 1}), std::nullopt);
}

TEST(Shapes, CountElements) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({2, 3, 4}), 24);
  EXPECT_EQ(countElements({int64_t(1) << 40, int64_t(1) << 40, 0}), 0);
  EXPECT_EQ(countElements({int64_t(1) << 31, int64_t(1) << 31}), int64_t(1)
                                                                     << 62);
  EXPECT_EQ(countElements({int64_t(1) << 32, int64_t(1) << 31}), std::nullopt);
  EXPECT_EQ(countElements({2, kDynamic}), std::nullopt);
}

TEST(Shapes, CompatibleTypes) {
  MLIRContext context;
  Builder builder(&context);
  Type f32 = builder.getF32Type();
  Type fixed = RankedTensorType::get({2, 3}, f32);
  Type open = RankedTensorType::get({kDynamic, 3}, f32);
  EXPECT_TRUE(areCompatibleTypes({fixed, f32}, {open, f32}));
  EXPECT_FALSE(areCompatibleTypes({fixed}, {open, f32}));
  EXPECT_FALSE(areCompatibleTypes(
      {fixed}, {RankedTensorType::get({2, 3}, builder.getF16Type())}));
  EXPECT_FALSE(
      areCompatibleTypes({open}, {RankedTensorType::get({2, 4}, f32)}));
}

TEST(Shapes, NarrowFloatsAccumulateInF32) {
  MLIRContext context;
  Builder builder(&context);
  EXPECT_TRUE(getAccumulatorType(builder.getF16Type()).isF32());
  EXPECT_TRUE(getAccumulatorType(builder.getBF16Type()).isF32());
  EXPECT_TRUE(getAccumulatorType(builder.getF64Type()).isF64());
}

} // namespace
