# Benchmarks: the target `bench` builds them all and runs them one after the other. Each needs the
# libraries it compares with, which Bogie itself does not use; without them it is left out, or
# refused where BOGIE_BENCH asks for it.
set(BENCH_COMMANDS)
set(BENCH_TARGETS)

macro(bench_add target)
  target_link_libraries(${target} PRIVATE bogie-static)
  list(APPEND BENCH_COMMANDS COMMAND $<TARGET_FILE:${target}>)
  list(APPEND BENCH_TARGETS ${target})
endmacro()

function(bench_miss what)
  if(NOT BOGIE_BENCH STREQUAL "AUTO")
    message(FATAL_ERROR "BOGIE_BENCH needs ${what}")
  endif()
endfunction()

# Integrators beside SUNDIALS IDA: every bench/*.c is a program.
find_path(SUNDIALS_INCLUDE_DIR ida/ida.h)
set(SUNDIALS_LIBRARIES)
set(SUNDIALS_READY ${SUNDIALS_INCLUDE_DIR})
foreach(name ida nvecserial sunmatrixdense sunlinsoldense)
  find_library(SUNDIALS_${name} sundials_${name})
  if(NOT SUNDIALS_${name})
    set(SUNDIALS_READY OFF)
  endif()
  list(APPEND SUNDIALS_LIBRARIES ${SUNDIALS_${name}})
endforeach()
if(SUNDIALS_READY)
  file(GLOB BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c)
  foreach(source ${BENCH_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench-${name} EXCLUDE_FROM_ALL ${source})
    target_include_directories(bench-${name} SYSTEM PRIVATE ${SUNDIALS_INCLUDE_DIR})
    target_link_libraries(bench-${name} PRIVATE ${SUNDIALS_LIBRARIES})
    target_compile_definitions(bench-${name} PRIVATE
      BENCH_FLAGS="${CMAKE_C_FLAGS_RELEASE} -ffp-contract=off")
    bench_add(bench-${name})
  endforeach()
else()
  bench_miss("SUNDIALS IDA (Debian: libsundials-dev)")
endif()

# Recursions beside Simbody and DART, which are written in C++.
find_path(SIMBODY_INCLUDE_DIR Simbody.h PATH_SUFFIXES simbody)
find_path(DART_INCLUDE_DIR dart/dart.hpp)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3)
find_library(DART_LIBRARY dart)
set(SIMBODY_LIBRARIES)
set(FORMALISM_READY OFF)
if(SIMBODY_INCLUDE_DIR AND DART_INCLUDE_DIR AND EIGEN_INCLUDE_DIR AND DART_LIBRARY)
  include(CheckLanguage)
  check_language(CXX)
  set(FORMALISM_READY ${CMAKE_CXX_COMPILER})
endif()
foreach(name simbody math common)
  find_library(SIMTK_${name} SimTK${name})
  if(NOT SIMTK_${name})
    set(FORMALISM_READY OFF)
  endif()
  list(APPEND SIMBODY_LIBRARIES ${SIMTK_${name}})
endforeach()
if(FORMALISM_READY)
  enable_language(CXX)
  # Debian builds both without NDEBUG, on which the layout of Simbody's classes depends.
  set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  add_executable(bench-formalism EXCLUDE_FROM_ALL bench/formalism.cpp bench/chain_bogie.cpp
    bench/chain_simbody.cpp bench/chain_dart.cpp)
  set_target_properties(bench-formalism PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    COMPILE_OPTIONS "-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Werror;-ffp-contract=off")
  target_include_directories(bench-formalism SYSTEM PRIVATE
    ${SIMBODY_INCLUDE_DIR} ${DART_INCLUDE_DIR} ${EIGEN_INCLUDE_DIR})
  target_link_libraries(bench-formalism PRIVATE ${SIMBODY_LIBRARIES} ${DART_LIBRARY})
  bench_add(bench-formalism)
else()
  bench_miss("Simbody, DART and a C++ compiler (Debian: libsimbody-dev, libdart-dev, g++)")
endif()

if(BENCH_TARGETS)
  add_custom_target(bench ${BENCH_COMMANDS} DEPENDS ${BENCH_TARGETS}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
