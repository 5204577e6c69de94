//===- ExternalModels.cpp - Knowledge about upstream ops ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/ExternalModels.h"
#include "Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::models;

Count models::product(ArrayRef<int64_t> sizes, int64_t factor) {
  int64_t count = factor;
  if (llvm::is_contained(sizes, ShapedType::kDynamic))
    return failure();
  if (llvm::is_contained(sizes, 0))
    return uint64_t(0);
  for (int64_t size : sizes)
    if (llvm::MulOverflow(count, size, count))
      return failure();
  return uint64_t(count);
}

Count models::forEachElement(Type type, int64_t factor) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return uint64_t(factor);
  if (!shaped.hasRank())
    return failure();
  return product(shaped.getShape(), factor);
}

/// On scalars, vectors and tensors.
static void attachElementwise(MLIRContext *context, StringRef dialect) {
  attachWhere<Mirrored, Free>(context, dialect, [](RegisteredOperationName op) {
    return op.hasTrait<OpTrait::ConstantLike>();
  });
  attachWhere<Mirrored, PerResult<1>>(
      context, dialect, [](RegisteredOperationName op) {
        return op.hasTrait<OpTrait::Elementwise>() &&
               !op.hasTrait<OpTrait::ConstantLike>();
      });
}

void mlir::echo::registerArithMathExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachElementwise(context, arith::ArithDialect::getDialectNamespace());
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachElementwise(context, math::MathDialect::getDialectNamespace());
  });
}

void mlir::echo::registerExternalModels(DialectRegistry &registry) {
  registerArithMathExternalModels(registry);
  registerTensorExternalModels(registry);
  registerLinalgExternalModels(registry);
  registerTosaExternalModels(registry);
}
