# Writes the header FILE with the commit of the tree SOURCE, if it is another than before.
cmake_minimum_required(VERSION 3.25) # a script of its own has no policies of the project
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=-changed
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT EXISTS ${SOURCE}/.git) # a tree within somebody else's repository
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define BOGIE_COMMIT \"@commit@\"\n" @ONLY)
