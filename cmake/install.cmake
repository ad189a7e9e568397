# What `cmake --install` puts where, and how other projects find it: find_package(bogie) with the
# target bogie::bogie, or pkg-config bogie. Both work from wherever the tree was moved.
include(CMakePackageConfigHelpers)

install(TARGETS bogie EXPORT bogieTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET bogie-mpi) # a package of its own, which brings MPI
  install(TARGETS bogie-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bogie COMPONENT mpi)
endif()
install(TARGETS bogie-fmi2 bogie-fmi3 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bogie)
install(FILES ${CMAKE_BINARY_DIR}/bogie-fmu-licences.txt DESTINATION ${CMAKE_INSTALL_LIBDIR}/bogie)
install(TARGETS bogie-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(GLOB BOGIE_HEADERS CONFIGURE_DEPENDS include/bogie/*.h)
install(FILES ${BOGIE_HEADERS} ${CMAKE_BINARY_DIR}/include/bogie/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bogie)
# Where Debian's Python looks: below /usr in a folder for all versions, elsewhere in one for each.
# The package finds the library from there.
find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(BOGIE_PYTHON_VERSION 3)
if(DEBIAN_PYTHON)
  execute_process(COMMAND ${DEBIAN_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2], end='')"
    OUTPUT_VARIABLE BOGIE_PYTHON_VERSION)
endif()
install(CODE "
  set(BOGIE_PYTHON_DIR lib/python${BOGIE_PYTHON_VERSION}/dist-packages)
  if(CMAKE_INSTALL_PREFIX MATCHES \"(^|/)usr$\")
    set(BOGIE_PYTHON_DIR lib/python3/dist-packages)
  endif()")
install(DIRECTORY python/bogie DESTINATION \${BOGIE_PYTHON_DIR} FILES_MATCHING PATTERN "*.py")
# The program knows what its manual says and how its command lines are completed.
set(manuals ${CMAKE_BINARY_DIR}/share)
add_custom_command(TARGET bogie-program POST_BUILD VERBATIM
  COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/make-manuals $<TARGET_FILE:bogie-program> ${manuals})
install(DIRECTORY ${manuals}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${manuals}/bash-completion ${manuals}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR})
# What a first run needs, and what editors check files with.
install(DIRECTORY models studies DESTINATION ${CMAKE_INSTALL_DATADIR}/bogie FILES_MATCHING
  PATTERN "*.json" PATTERN "*.csv")
install(FILES docs/model.schema.json docs/study.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/bogie)

set(BOGIE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/bogie)
install(EXPORT bogieTargets NAMESPACE bogie:: DESTINATION ${BOGIE_CMAKE_DIR})
configure_package_config_file(cmake/bogieConfig.cmake.in
  ${CMAKE_BINARY_DIR}/bogieConfig.cmake INSTALL_DESTINATION ${BOGIE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/bogieConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/bogieConfig.cmake ${CMAKE_BINARY_DIR}/bogieConfigVersion.cmake
  DESTINATION ${BOGIE_CMAKE_DIR})

# from the folder of bogie.pc back to the prefix
file(RELATIVE_PATH BOGIE_PC_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/bogie.pc.in ${CMAKE_BINARY_DIR}/bogie.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/bogie.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(cmake/package.cmake)
