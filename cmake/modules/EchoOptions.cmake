# Compiler flags that every Echo target shares.

# The packaged LLVM is an NDEBUG build; mlir::Pass has another layout without
# it, so NDEBUG is set in every configuration. Echo's own checks are ECHO_CHECK.
add_compile_definitions(NDEBUG)
foreach(config DEBUG RELWITHDEBINFO MINSIZEREL RELEASE)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_${config} "${CMAKE_CXX_FLAGS_${config}}")
  string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${config} "${CMAKE_C_FLAGS_${config}}")
endforeach()

# The bit rule: no contraction of a*b+c in anything that computes values.
add_compile_options(-ffp-contract=off)
add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-comment>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-redundant-move>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
endif()

if(ECHO_STANDALONE)
  find_program(ECHO_CCACHE ccache)
  if(ECHO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${ECHO_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ECHO_CCACHE})
  endif()
  find_program(ECHO_LLD NAMES ld.lld-22)
  if(ECHO_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=${ECHO_LLD})
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${ECHO_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${ECHO_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${ECHO_BINARY_DIR}/lib)
endif()

if(ECHO_SANITIZE)
  # vptr needs instrumented RTTI in libMLIR, which the packages do not have, and
  # function a word in front of every function, which compiled kernels have not.
  add_compile_options(-fsanitize=${ECHO_SANITIZE} -fno-sanitize=vptr
                      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ECHO_SANITIZE})
endif()
