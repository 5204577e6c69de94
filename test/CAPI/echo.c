// A C program differentiates a function and meets an error.
// REQUIRES: mlir-dylib
/* RUN: %cc -std=c11 -Wall -Werror -I%echo_src/include -I%mlir_include %s -o %t \
   RUN:   -L%echo_lib -L%mlir_lib -lMLIRCAPIFunc -lMLIRCAPIIR -lEcho -lMLIR -lLLVM \
   RUN:   -lstdc++ -lm -Wl,-rpath,%echo_lib -Wl,-rpath,%mlir_lib
   RUN: %t 2>&1 | FileCheck %s
 */

#include "Echo/CAPI/Echo.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Pass.h"
#include <stdio.h>
#include <string.h>

static void printChunk(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stdout);
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic, void *unused) {
  (void)unused;
  printf("diagnostic: ");
  mlirDiagnosticPrint(diagnostic, printChunk, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirContext context, MlirModule module, const char *pipeline) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirLogicalResult result =
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager),
                            mlirStringRefCreateFromCString(pipeline), printChunk, NULL);
  if (mlirLogicalResultIsSuccess(result))
    result = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(manager);
  return result;
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__func__(), registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__echo__(), registry);
  mlirEchoRegisterAllDialects(registry);
  mlirRegisterEchoPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);

  // CHECK: namespace echo
  MlirStringRef name = mlirDialectHandleGetNamespace(mlirGetDialectHandle__echo__());
  printf("namespace %.*s\n", (int)name.length, name.data);

  // CHECK: func.func @square(%[[A:.*]]: tensor<f32>
  // CHECK: %[[LOSS:.*]] = echo.mul %[[A]], %[[A]]
  // CHECK: return %[[LOSS]], %{{.*}} : tensor<f32>, tensor<f32>
  MlirModule module = mlirModuleCreateParse(
      context,
      mlirStringRefCreateFromCString(
          "func.func @square(%a: tensor<f32> {echo.role = \"parameter\"})"
          " -> (tensor<f32> {echo.loss}) {\n"
          "  %0 = echo.mul %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
          "  return %0 : tensor<f32>\n"
          "}\n"));
  if (mlirModuleIsNull(module))
    return 1;
  if (mlirLogicalResultIsFailure(run(context, module, "builtin.module(echo-gradient)")))
    return 1;
  mlirOperationPrint(mlirModuleGetOperation(module), printChunk, NULL);

  // CHECK: diagnostic:
  // CHECK: unknown function: failed
  printf("\nunknown function: %s\n",
         mlirLogicalResultIsFailure(run(context, module, "builtin.module(echo-gradient{function=absent})"))
             ? "failed"
             : "succeeded");
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}
