//===- Diagnostics.h - Diagnostics about a tool's input ---------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_DIAGNOSTICS_H
#define ECHO_TOOLS_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::echo {

/// Prints diagnostics with their source line. Graphs of frontends have the
/// names of layers in place of lines: then it is the file and the layer.
class ToolDiagnosticHandler : public SourceMgrDiagnosticHandler {
public:
  ToolDiagnosticHandler(llvm::SourceMgr &sources, MLIRContext *context,
                        std::string file)
      : SourceMgrDiagnosticHandler(sources, context, llvm::errs()),
        file(std::move(file)) {
    setHandler([this](Diagnostic &diagnostic) { print(diagnostic); });
  }

private:
  void print(Diagnostic &diagnostic) {
    if (auto line = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
        line && line.getLine() != 0) {
      emitDiagnostic(diagnostic);
      return;
    }
    printWithoutLine(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      print(note);
  }

  void printWithoutLine(Diagnostic &diagnostic) {
    llvm::raw_ostream &os = llvm::errs();
    os << file << ": ";
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      llvm::WithColor::error(os);
      break;
    case DiagnosticSeverity::Warning:
      llvm::WithColor::warning(os);
      break;
    case DiagnosticSeverity::Note:
      llvm::WithColor::note(os);
      break;
    case DiagnosticSeverity::Remark:
      llvm::WithColor::remark(os);
      break;
    }
    if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>())
      os << "at " << name.getName() << ": ";
    os << diagnostic.str() << "\n";
  }

  std::string file;
};

} // namespace mlir::echo

#endif // ECHO_TOOLS_DIAGNOSTICS_H
