# Debian packages by CPack: bogie, and bogie-mpi for studies under mpirun. `make package` makes them
# from a build for /usr; cmake/prepare-package.cmake adds what a package has and a source install has not.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Bogie <bogie@localhost>" CACHE STRING "Maintainer of Debian packages")
set(CPACK_PACKAGE_NAME bogie)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# HDF5 and OpenBLAS are loaded when something needs them, which dpkg-shlibdeps cannot see.
function(bogie_find_package file fallback result)
  execute_process(COMMAND dpkg-query -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:,]+)")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} ${fallback} PARENT_SCOPE)
  endif()
endfunction()
file(REAL_PATH ${HDF5_FILE} HDF5_REAL)
bogie_find_package(${HDF5_REAL} libhdf5-103-1 HDF5_PACKAGE)

set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME bogie)
set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION "simulation of constrained mechanical systems
Bogie simulates mechanisms, suspensions and vehicles: it takes a model file,
finds a consistent start, integrates the differential-algebraic equations
with error control or in real time, and certifies the result. This package
has the program, the library with its headers, the module of Python, and
models and studies to start from.")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "${HDF5_PACKAGE}, libopenblas0")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "python3, python3-numpy")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS "bogie-mpi, python3-matplotlib, python3-pandas")
set(package ${CMAKE_BINARY_DIR}/package)
file(WRITE ${package}/triggers "activate-noawait ldconfig\n")
file(WRITE ${package}/shlibs "libbogie ${PROJECT_VERSION_MAJOR} bogie (>= ${PROJECT_VERSION})\n")
file(WRITE ${package}/postinst "#!/bin/sh
set -e
if command -v py3compile >/dev/null; then
    py3compile -p bogie
fi
")
file(WRITE ${package}/prerm "#!/bin/sh
set -e
if command -v py3clean >/dev/null; then
    py3clean -p bogie
fi
")
file(WRITE ${package}/postrm "#!/bin/sh\nset -e\n") # else CPack writes one that calls ldconfig
file(CHMOD ${package}/postinst ${package}/prerm ${package}/postrm PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_CONTROL_EXTRA
  ${package}/triggers ${package}/shlibs ${package}/postinst ${package}/prerm ${package}/postrm)

if(TARGET bogie-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME bogie-mpi)
  set(CPACK_DEBIAN_MPI_DESCRIPTION "studies of bogie under mpirun
A module that the program bogie loads when it is started by mpirun, so that
the ranks share the cases of a study.")
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "bogie (= ${PROJECT_VERSION}-1)")
endif()
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package-config.cmake)
file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "set(BOGIE_SOURCE_DIR ${CMAKE_SOURCE_DIR})\n")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/prepare-package.cmake)
include(CPack)
