# The fuzzers: fuzz_NAME.c is one program and one test. libFuzzer comes with clang alone, so the
# sources are compiled once more here, by clang with its sanitizers, whatever compiler the rest is
# built with. All of them together take a minute. AddressSanitizer sees where pointers lead; checks of
# their values besides would double the time to compile and run (the tests under sanitizers have them).
find_program(FUZZ_CLANG clang REQUIRED)
pkg_check_modules(FUZZ_PACKAGES REQUIRED jansson hdf5-serial)
set(FUZZ_FLAGS
  -std=c17 -g1 -O1 -fno-omit-frame-pointer -ffp-contract=off -D_GNU_SOURCE
  -DBOGIE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" -DBOGIE_COMMIT=""
  -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
  -fno-sanitize=null,alignment,object-size,pointer-overflow
  -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
  -isystem ${AMD_INCLUDE_DIR} ${FUZZ_PACKAGES_CFLAGS})
foreach(definition ${BOGIE_LOADED})
  list(APPEND FUZZ_FLAGS -D${definition})
endforeach()

file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c)
set(FUZZ_OBJECTS)
foreach(source ${BOGIE_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/commit.c ${FUZZ_SOURCES})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  set(object ${CMAKE_BINARY_DIR}/fuzz/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${FUZZ_CLANG} ${FUZZ_FLAGS} -fsanitize=fuzzer-no-link
      -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "clang ${name}" VERBATIM)
  if(NOT source IN_LIST FUZZ_SOURCES)
    list(APPEND FUZZ_OBJECTS ${object})
  endif()
endforeach()

list(LENGTH FUZZ_SOURCES FUZZ_COUNT)
math(EXPR FUZZ_SECONDS "60 / ${FUZZ_COUNT}")
foreach(source ${FUZZ_SOURCES})
  get_filename_component(program ${source} NAME_WE)
  string(REPLACE "fuzz_" "" name ${program})
  set(own ${CMAKE_BINARY_DIR}/fuzz/tests/fuzz/${program}.c.o)
  # a forged checkpoint has the right fingerprint
  set(wrap)
  if(name STREQUAL "checkpoint")
    set(wrap -Wl,--wrap=bg_fingerprint_calc)
  endif()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${program}
    COMMAND ${FUZZ_CLANG} -fsanitize=fuzzer,address,undefined ${own} ${FUZZ_OBJECTS} -o ${program}
      ${wrap} ${FUZZ_PACKAGES_LDFLAGS} ${AMD_LIBRARY} -ldl -lm
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} DEPENDS ${own} ${FUZZ_OBJECTS}
    COMMENT "Linking ${program}" VERBATIM)
  add_custom_target(fuzz-${name} ALL DEPENDS ${CMAKE_BINARY_DIR}/${program})
  add_test(NAME fuzz-${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.sh
    ${CMAKE_BINARY_DIR}/${program} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/fuzz/${name})
  set_tests_properties(fuzz-${name} PROPERTIES ENVIRONMENT "FUZZ_SHARE=${FUZZ_SECONDS}")
endforeach()
