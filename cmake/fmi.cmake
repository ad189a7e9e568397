# The object of an FMU: all of the library with the functions of one version of the standard, and
# nothing else to be seen, so that objects of several versions of Bogie get along in one process.
# What it is made of is in it, libraries too where they are to be had as archives, since nobody knows
# what is installed where it goes; what is left of them is found by its name.
find_library(JANSSON_ARCHIVE libjansson.a)
find_library(AMD_ARCHIVE libamd.a)
find_library(SUITESPARSECONFIG_ARCHIVE libsuitesparseconfig.a)
set(FMI_DEPENDENCIES ${JANSSON_ARCHIVE} ${AMD_ARCHIVE} ${SUITESPARSECONFIG_ARCHIVE} m)
set(FMI_OPTIONS -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,--wrap=stdin)
file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/fmi-archives.c
  "#include <jansson.h>\n#include <amd.h>\nextern void *__wrap_stdin;\nvoid *__wrap_stdin;\n"
  "void *probe(double *x);\nvoid *probe(double *x) { amd_defaults(x); return json_load_file(\"\", 0, 0); }\n")
if(JANSSON_ARCHIVE AND AMD_ARCHIVE AND SUITESPARSECONFIG_ARCHIVE)
  execute_process(RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET
    COMMAND ${CMAKE_C_COMPILER} -shared -fPIC -I${AMD_INCLUDE_DIR} ${FMI_OPTIONS} -Wl,-z,defs
      -o ${CMAKE_BINARY_DIR}/CMakeFiles/fmi-archives.so ${CMAKE_BINARY_DIR}/CMakeFiles/fmi-archives.c
      ${JANSSON_ARCHIVE} ${AMD_ARCHIVE} ${SUITESPARSECONFIG_ARCHIVE} -lm)
endif()
if(NOT DEFINED failed OR failed)
  message(STATUS "FMUs need libjansson and libamd where they go: no archives of them fit here")
  set(FMI_DEPENDENCIES PkgConfig::JANSSON ${AMD_LIBRARY} m)
endif()
foreach(version 2 3)
  add_library(bogie-fmi${version} MODULE
    src/fmi/skin/fmi${version}.c src/fmi/skin/place.c src/fmi/skin/archives.c
    $<TARGET_OBJECTS:bogie-objects> $<TARGET_OBJECTS:bogie-commit-object>)
  set_target_properties(bogie-fmi${version} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/fmi/skin/fmi${version}.map)
  target_include_directories(bogie-fmi${version} PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  target_link_options(bogie-fmi${version} PRIVATE
    ${FMI_OPTIONS}
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/fmi/skin/fmi${version}.map)
  if(NOT BOGIE_SANITIZE)
    target_link_options(bogie-fmi${version} PRIVATE -s)
  endif()
  target_link_libraries(bogie-fmi${version} PRIVATE ${FMI_DEPENDENCIES} ${CMAKE_DL_LIBS})
  add_dependencies(bogie-program bogie-fmi${version}) # who builds the one wants to make FMUs
endforeach()

# Licences of what is in an FMU, for its documentation.
set(FMI_LICENCES "Bogie\n=====\n\n")
file(READ ${CMAKE_SOURCE_DIR}/LICENSE text)
string(APPEND FMI_LICENCES "${text}")
foreach(package libjansson-dev libsuitesparse-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright text)
    string(APPEND FMI_LICENCES "\n${package}\n==================\n\n${text}")
  endif()
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/bogie-fmu-licences.txt "${FMI_LICENCES}")
