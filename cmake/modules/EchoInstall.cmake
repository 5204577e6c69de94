# Installation and find_package(Echo).
include(CMakePackageConfigHelpers)

set(ECHO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Echo)
get_property(echo_libs GLOBAL PROPERTY ECHO_LIBS)
get_property(echo_tools GLOBAL PROPERTY ECHO_TOOLS)

install(TARGETS ${echo_libs} Echo EXPORT EchoTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(echo_tools)
  install(TARGETS ${echo_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET EchoPlugin)
  install(TARGETS EchoPlugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET EchoRuntime)
  install(TARGETS EchoRuntime EchoRuntimeStatic EXPORT EchoTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${ECHO_SOURCE_DIR}/runtime/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endif()

install(DIRECTORY ${ECHO_SOURCE_DIR}/include/Echo ${ECHO_BINARY_DIR}/include/Echo
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN "CMakeFiles" EXCLUDE)
install(FILES ${ECHO_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/echo)

install(EXPORT EchoTargets DESTINATION ${ECHO_CMAKE_DIR})
configure_package_config_file(${ECHO_SOURCE_DIR}/cmake/EchoConfig.cmake.in
  ${ECHO_BINARY_DIR}/cmake/EchoConfig.cmake INSTALL_DESTINATION ${ECHO_CMAKE_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${ECHO_BINARY_DIR}/cmake/EchoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${ECHO_BINARY_DIR}/cmake/EchoConfig.cmake
  ${ECHO_BINARY_DIR}/cmake/EchoConfigVersion.cmake
  DESTINATION ${ECHO_CMAKE_DIR})
