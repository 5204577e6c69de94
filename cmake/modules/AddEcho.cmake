# add_echo_library(MLIREchoFoo a.cpp b.cpp
#   [DEPENDS tablegen-targets] [LINK_LIBS MLIREchoBar EchoPlanning ...]
#   [MLIR_LIBS MLIRIR MLIRArithDialect ...] [LLVM_COMPONENTS core ...])
#
# One object library, one static archive MLIREchoFoo (installed), and its
# objects in libEcho.so. MLIR_LIBS are the static MLIR libraries the code
# uses; with ECHO_LINK_MLIR_DYLIB they become libMLIR.so.
function(add_echo_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS;LLVM_COMPONENTS" ${ARGN})
  add_library(obj.${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(obj.${name} mlir-echo-headers)
  if(TARGET mlir-headers)
    # Inside an LLVM build tree the host's generated headers come first.
    add_dependencies(obj.${name} mlir-headers)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(obj.${name} ${ARG_DEPENDS})
  endif()
  add_library(${name} STATIC $<TARGET_OBJECTS:obj.${name}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${ECHO_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${ECHO_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY ECHO_LIBS ${name})
  set_property(GLOBAL APPEND PROPERTY ECHO_MLIR_LIBS ${ARG_MLIR_LIBS})
  set_property(GLOBAL APPEND PROPERTY ECHO_LLVM_COMPONENTS ${ARG_LLVM_COMPONENTS})
  # What a consumer of the static archive has to link; the config file turns
  # it into libMLIR.so or static archives.
  if(ARG_LLVM_COMPONENTS)
    llvm_map_components_to_libnames(llvm_libs ${ARG_LLVM_COMPONENTS})
  endif()
  set_target_properties(${name} PROPERTIES
    ECHO_MLIR_LIBS "${ARG_MLIR_LIBS}" ECHO_LLVM_LIBS "${llvm_libs}"
    EXPORT_PROPERTIES "ECHO_MLIR_LIBS;ECHO_LLVM_LIBS")
  if(NOT ECHO_STANDALONE OR NOT ECHO_LINK_MLIR_DYLIB)
    target_link_libraries(${name} PUBLIC
      "$<BUILD_INTERFACE:${ARG_MLIR_LIBS}>" "$<BUILD_INTERFACE:${llvm_libs}>")
  else()
    target_link_libraries(${name} PUBLIC "$<BUILD_INTERFACE:MLIR>" "$<BUILD_INTERFACE:LLVM>")
  endif()
endfunction()

# add_echo_tool(echo-foo foo.cpp [LINK_LIBS ...]): an executable in build/bin
# that links libEcho.so.
function(add_echo_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} mlir-echo-headers)
  target_link_libraries(${name} PRIVATE Echo ${ARG_LINK_LIBS})
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "\$ORIGIN/../lib" INSTALL_RPATH "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  set_property(GLOBAL APPEND PROPERTY ECHO_TOOLS ${name})
endfunction()

# echo_tablegen(<file.td> <target> <out> <flags...> [<out> <flags> ...])
# is not wrapped: use mlir_tablegen and echo_tablegen_target.
function(echo_tablegen_target target)
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY ECHO_TABLEGEN_TARGETS ${target})
endfunction()

# add_echo_plain_library(EchoFoo a.cpp ... [LINK_LIBS ...]): a library without
# MLIR or LLVM; its objects are in libEcho.so too.
function(add_echo_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(obj.${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_library(${name} STATIC $<TARGET_OBJECTS:obj.${name}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${ECHO_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY ECHO_LIBS ${name})
endfunction()
