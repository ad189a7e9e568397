# The fuzzer of model files. libFuzzer comes with clang alone, so the sources are compiled once more
# here, by clang with its sanitizers, whatever compiler the rest is built with.
find_program(FUZZ_CLANG clang REQUIRED)
pkg_check_modules(FUZZ_PACKAGES REQUIRED jansson hdf5-serial openblas)
set(FUZZ_FLAGS
  -std=c17 -g -O1 -fno-omit-frame-pointer -ffp-contract=off -D_GNU_SOURCE
  -fsanitize=address,undefined -fno-sanitize-recover=all
  -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_BINARY_DIR}/include -I${CMAKE_SOURCE_DIR}/src
  -isystem ${AMD_INCLUDE_DIR} ${FUZZ_PACKAGES_CFLAGS})

set(FUZZ_OBJECTS)
foreach(source ${BOGIE_SOURCES} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_model.c)
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  set(object ${CMAKE_BINARY_DIR}/fuzz/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${FUZZ_CLANG} ${FUZZ_FLAGS} -fsanitize=fuzzer-no-link
      -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "clang ${name}" VERBATIM)
  list(APPEND FUZZ_OBJECTS ${object})
endforeach()
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/fuzz_model
  COMMAND ${FUZZ_CLANG} -fsanitize=fuzzer,address,undefined ${FUZZ_OBJECTS} -o fuzz_model
    ${FUZZ_PACKAGES_LDFLAGS} ${AMD_LIBRARY} -ldl -lm
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} DEPENDS ${FUZZ_OBJECTS} COMMENT "Linking fuzz_model" VERBATIM)
add_custom_target(fuzz-model ALL DEPENDS ${CMAKE_BINARY_DIR}/fuzz_model)

add_test(NAME fuzz-model COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.sh
  ${CMAKE_BINARY_DIR}/fuzz_model ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/fuzz)
