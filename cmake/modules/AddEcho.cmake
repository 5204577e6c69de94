# What a library of Echo has in every mode: an object library, a static archive
# of it, and its place in libEcho.so.
function(echo_library_common name)
  add_library(obj.${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_library(${name} STATIC $<TARGET_OBJECTS:obj.${name}>)
  add_dependencies(${name} mlir-echo-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  target_include_directories(${name} SYSTEM INTERFACE
    "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${ECHO_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${ECHO_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY ECHO_LIBS ${name})
endfunction()

# add_echo_library(MLIREchoFoo a.cpp b.cpp
#   [DEPENDS tablegen-targets] [LINK_LIBS MLIREchoBar EchoPlanning ...]
#   [MLIR_LIBS MLIRIR MLIRArithDialect ...] [LLVM_COMPONENTS core ...])
#
# MLIR_LIBS are the static MLIR libraries that the code uses; with
# ECHO_LINK_MLIR_DYLIB they become libMLIR.so.
function(add_echo_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS;LLVM_COMPONENTS" ${ARGN})
  echo_library_common(${name})
  add_dependencies(obj.${name} mlir-echo-headers ${ARG_DEPENDS})
  if(TARGET mlir-headers)
    # Inside an LLVM build tree the host's generated headers come first.
    add_dependencies(obj.${name} mlir-headers)
  endif()
  set(llvm_libs)
  if(ARG_LLVM_COMPONENTS)
    llvm_map_components_to_libnames(llvm_libs ${ARG_LLVM_COMPONENTS})
  endif()
  # What a consumer of the installed archive has to link; EchoConfig.cmake turns
  # it into libMLIR.so or static archives.
  set_target_properties(${name} PROPERTIES
    ECHO_MLIR_LIBS "${ARG_MLIR_LIBS}" ECHO_LLVM_LIBS "${llvm_libs}"
    EXPORT_PROPERTIES "ECHO_MLIR_LIBS;ECHO_LLVM_LIBS")
  if(ECHO_LINK_MLIR_DYLIB)
    target_link_libraries(${name} PUBLIC "$<BUILD_INTERFACE:MLIR;LLVM>")
  else()
    target_link_libraries(${name} PUBLIC "$<BUILD_INTERFACE:${ARG_MLIR_LIBS};${llvm_libs}>")
  endif()
endfunction()

# add_echo_plain_library(EchoFoo a.cpp ... [LINK_LIBS ...]): a library without
# MLIR or LLVM; its objects are in libEcho.so too.
function(add_echo_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  echo_library_common(${name})
endfunction()

# add_echo_tool(echo-foo foo.cpp [LINK_LIBS ...] [MLIR_LIBS ...]): an executable
# in build/bin that links libEcho.so, or Echo's archives where MLIR is static.
# MLIR_LIBS are what the tool itself uses of MLIR.
function(add_echo_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} mlir-echo-headers)
  target_link_libraries(${name} PRIVATE Echo ${ARG_LINK_LIBS})
  if(NOT ECHO_LINK_MLIR_DYLIB)
    target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
  endif()
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "\$ORIGIN/../lib"
    INSTALL_RPATH "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  set_property(GLOBAL APPEND PROPERTY ECHO_TOOLS ${name})
endfunction()

# mlir_tablegen is used as it is; this makes its outputs a target that every
# library waits for.
function(echo_tablegen_target target)
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY ECHO_TABLEGEN_TARGETS ${target})
endfunction()
