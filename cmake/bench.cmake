# Benchmarks: the target `bench` builds them all and runs them one after the other. Each needs the
# libraries it compares with, which Bogie itself does not use; without them it is left out, or
# refused where BOGIE_BENCH asks for it. With the tests everything is compiled whose libraries are
# there, so that no change of Bogie breaks a benchmark unseen, and nothing of it is run.
set(BENCH_COMMANDS)
set(BENCH_TARGETS)
set(BENCH_EXCLUDE EXCLUDE_FROM_ALL)
if(CMOCKA_FOUND AND BOGIE_TESTS AND NOT BOGIE_SANITIZE)
  set(BENCH_EXCLUDE)
endif()

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

# Steps in real time: Bogie alone.
add_executable(bench-step ${BENCH_EXCLUDE} bench/step.c)
bench_add(bench-step)

# Integrators beside each other, with instructions where valgrind is there.
add_executable(bench-work ${BENCH_EXCLUDE} bench/work.c)
bench_add(bench-work)

# Integrators beside SUNDIALS IDA.
find_path(SUNDIALS_INCLUDE_DIR ida/ida.h)
set(SUNDIALS_LIBRARIES)
set(SUNDIALS_READY ${SUNDIALS_INCLUDE_DIR})
foreach(name ida nvecserial sunmatrixdense sunlinsoldense sunmatrixband sunlinsolband)
  find_library(SUNDIALS_${name} sundials_${name})
  if(NOT SUNDIALS_${name})
    set(SUNDIALS_READY OFF)
  endif()
  list(APPEND SUNDIALS_LIBRARIES ${SUNDIALS_${name}})
endforeach()
if(SUNDIALS_READY)
  foreach(name ida bdf)
    add_executable(bench-${name} ${BENCH_EXCLUDE} bench/${name}.c)
    target_include_directories(bench-${name} SYSTEM PRIVATE ${SUNDIALS_INCLUDE_DIR})
    target_link_libraries(bench-${name} PRIVATE ${SUNDIALS_LIBRARIES})
    target_compile_definitions(bench-${name} PRIVATE
      BENCH_FLAGS="${CMAKE_C_FLAGS_RELEASE} -ffp-contract=off")
    bench_add(bench-${name})
  endforeach()
else()
  bench_miss("SUNDIALS IDA (Debian: libsundials-dev)")
  # what its headers ask of Bogie alone
  set(headers ${CMAKE_BINARY_DIR}/bench_headers.c)
  file(CONFIGURE OUTPUT ${headers}
    CONTENT "#include \"curve.h\"\n#include \"line.h\"\n#include \"solve_bogie.h\"\n")
  add_library(bench-headers OBJECT ${BENCH_EXCLUDE} ${headers})
  target_include_directories(bench-headers PRIVATE bench)
  target_compile_options(bench-headers PRIVATE -Wno-unused-function)
  target_link_libraries(bench-headers PRIVATE bogie-static)
endif()

# Recursions beside Simbody and DART, which are written in C++. Their chains are sources of their
# own, each compiled where its library is.
find_path(SIMBODY_INCLUDE_DIR Simbody.h PATH_SUFFIXES simbody)
find_path(DART_INCLUDE_DIR dart/dart.hpp)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3)
find_library(DART_LIBRARY dart)
set(CHAIN_SOURCES bench/formalism.cpp bench/chain_bogie.cpp)
set(CHAIN_LIBRARIES ${DART_LIBRARY})
set(FORMALISM_READY ON)
if(SIMBODY_INCLUDE_DIR)
  list(APPEND CHAIN_SOURCES bench/chain_simbody.cpp)
endif()
if(DART_INCLUDE_DIR AND EIGEN_INCLUDE_DIR)
  list(APPEND CHAIN_SOURCES bench/chain_dart.cpp)
endif()
foreach(name simbody math common)
  find_library(SIMTK_${name} SimTK${name})
  list(APPEND CHAIN_LIBRARIES ${SIMTK_${name}})
endforeach()
foreach(need SIMBODY_INCLUDE_DIR DART_INCLUDE_DIR EIGEN_INCLUDE_DIR DART_LIBRARY
    SIMTK_simbody SIMTK_math SIMTK_common)
  if(NOT ${need})
    set(FORMALISM_READY OFF)
  endif()
endforeach()
include(CheckLanguage)
set(CMAKE_MESSAGE_LOG_LEVEL NOTICE) # "NOTFOUND" frightens where it is no loss
check_language(CXX)
unset(CMAKE_MESSAGE_LOG_LEVEL)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  # Debian builds both without NDEBUG, on which the layout of Simbody's classes depends.
  set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  add_library(bench-chains OBJECT ${BENCH_EXCLUDE} ${CHAIN_SOURCES})
  set_target_properties(bench-chains PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    COMPILE_OPTIONS "-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-ffp-contract=off")
  foreach(folder ${SIMBODY_INCLUDE_DIR} ${DART_INCLUDE_DIR} ${EIGEN_INCLUDE_DIR})
    if(folder)
      target_include_directories(bench-chains SYSTEM PRIVATE ${folder})
    endif()
  endforeach()
  target_link_libraries(bench-chains PRIVATE bogie-static)
endif()
if(CMAKE_CXX_COMPILER AND FORMALISM_READY)
  add_executable(bench-formalism ${BENCH_EXCLUDE} $<TARGET_OBJECTS:bench-chains>)
  set_target_properties(bench-formalism PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(bench-formalism PRIVATE ${CHAIN_LIBRARIES})
  bench_add(bench-formalism)
else()
  bench_miss("Simbody, DART and a C++ compiler (Debian: libsimbody-dev, libdart-dev, g++)")
endif()

add_custom_target(bench ${BENCH_COMMANDS} DEPENDS ${BENCH_TARGETS}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
