# Finds MLIR, or uses the host's when Echo is a subdirectory of a project that
# found (or builds) its own.
if(NOT COMMAND add_mlir_library)
  # The host links our libraries, so it has to see what they link.
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()
if(ECHO_STANDALONE)
  # Debian's config does not say so, but the packages hold libMLIR.so.
  set(MLIR_LINK_MLIR_DYLIB ${ECHO_LINK_MLIR_DYLIB})
  set(LLVM_LINK_LLVM_DYLIB ${ECHO_LINK_MLIR_DYLIB})
  set(LLVM_RUNTIME_OUTPUT_INTDIR ${ECHO_BINARY_DIR}/bin)
  set(LLVM_LIBRARY_OUTPUT_INTDIR ${ECHO_BINARY_DIR}/lib)
endif()
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${ECHO_SOURCE_DIR}/include ${ECHO_BINARY_DIR}/include
                    ${ECHO_SOURCE_DIR}/runtime/common
                    ${ECHO_SOURCE_DIR}/runtime/include)
separate_arguments(ECHO_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${ECHO_LLVM_DEFINITIONS})
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
