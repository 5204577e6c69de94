//===- BuildersTest.cpp - Builders of ops ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Builders.h"
#include "DialectTesting.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

class BuildersTest : public DialectTest {
protected:
  BuildersTest() : builder(&context), block(std::make_unique<Block>()) {
    builder.setInsertionPointToStart(block.get());
  }

  Value argument(ArrayRef<int64_t> shape, Type elementType) {
    return block->addArgument(RankedTensorType::get(shape, elementType),
                              builder.getUnknownLoc());
  }
  Type tensor(ArrayRef<int64_t> shape, Type elementType) {
    return RankedTensorType::get(shape, elementType);
  }

  OpBuilder builder;
  std::unique_ptr<Block> block;
};

TEST_F(BuildersTest, SplatsConvertAsEchoConvert) {
  auto splat = [&](Type elementType, double value) {
    return getSplatAttr(RankedTensorType::get({2}, elementType), value);
  };
  EXPECT_EQ(splat(builder.getI8Type(), -1.5).getSplatValue<APInt>(),
            APInt(8, -1, /*isSigned=*/true));
  EXPECT_EQ(splat(builder.getI8Type(), 1e9).getSplatValue<APInt>(),
            APInt(8, 127));
  EXPECT_TRUE(splat(builder.getI1Type(), 0.5).getSplatValue<bool>());
  EXPECT_FALSE(splat(builder.getI1Type(), 0.0).getSplatValue<bool>());
  // The nearest f16 to 0.1 is 0x2E66.
  EXPECT_EQ(splat(builder.getF16Type(), 0.1)
                .getSplatValue<APFloat>()
                .bitcastToAPInt(),
            APInt(16, 0x2E66));
}

TEST_F(BuildersTest, ScalarConstantsHaveRankZero) {
  Value value = createScalarConstant(builder, builder.getUnknownLoc(),
                                     builder.getF32Type(), 2.0);
  EXPECT_EQ(value.getType(), tensor({}, builder.getF32Type()));
}

TEST_F(BuildersTest, TypesAreInferred) {
  Location loc = builder.getUnknownLoc();
  Type f32 = builder.getF32Type();
  Value x = argument({4, 6}, f32);
  EXPECT_EQ(AddOp::create(builder, loc, x, argument({6}, f32)).getType(),
            tensor({4, 6}, f32));
  EXPECT_EQ(ReduceOp::create(builder, loc, x, ReduceKind::Mean,
                             ArrayRef<int64_t>{1}, /*keepdims=*/true)
                .getType(),
            tensor({4, 1}, f32));
  EXPECT_EQ(
      ReshapeOp::create(builder, loc, x, ArrayRef<int64_t>{3, 8}).getType(),
      tensor({3, 8}, f32));
  EXPECT_EQ(BroadcastOp::create(builder, loc, x, ArrayRef<int64_t>{2, 4, 6})
                .getType(),
            tensor({2, 4, 6}, f32));
  EXPECT_EQ(ConvertOp::create(builder, loc, x, builder.getI8Type()).getType(),
            tensor({4, 6}, builder.getI8Type()));
  EXPECT_EQ(IotaOp::create(builder, loc, ArrayRef<int64_t>{4, 6},
                           builder.getI32Type(), 1)
                .getType(),
            tensor({4, 6}, builder.getI32Type()));
  auto split = SplitOp::create(builder, loc, x, /*axis=*/1, /*count=*/3);
  ASSERT_EQ(split.getNumResults(), 3u);
  EXPECT_EQ(split.getResult(2).getType(), tensor({4, 2}, f32));
}

// A builder of an op whose operands don't fit says so and fails.
TEST_F(BuildersTest, InferenceReportsAtTheLocation) {
  Type f32 = builder.getF32Type();
  SmallVector<Value> operands = {argument({4}, f32), argument({3}, f32)};
  SmallVector<Type> types;
  EXPECT_TRUE(failed(AddOp::inferReturnTypes(&context, builder.getUnknownLoc(),
                                             AddOp::Adaptor(operands), types)));
  EXPECT_EQ(message, "'echo.add' op expected operand shapes that broadcast, "
                     "found [4] and [3]");
  message.clear();
  EXPECT_TRUE(failed(AddOp::inferReturnTypes(&context, std::nullopt,
                                             AddOp::Adaptor(operands), types)));
  EXPECT_EQ(message, "");
}

} // namespace
