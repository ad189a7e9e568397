# The viewer of reports: npm bundles viewer/ into one HTML template, which the program carries inside,
# so that users of an installed program need no npm. The bundle is made again only when its sources
# change; scripts/build-viewer keeps two build folders from disturbing each other. Where BOGIE_VIEWER is
# AUTO a failure of npm costs only the pages: the template is empty.
set(BOGIE_VIEWER_TEMPLATE "" CACHE FILEPATH
  "A template of the viewer that was built elsewhere, to be used instead of building it with npm")
set(template ${CMAKE_BINARY_DIR}/viewer-template.html)

if(BOGIE_VIEWER_TEMPLATE)
  add_custom_command(OUTPUT ${template}
    COMMAND ${CMAKE_COMMAND} -E copy ${BOGIE_VIEWER_TEMPLATE} ${template}
    DEPENDS ${BOGIE_VIEWER_TEMPLATE} VERBATIM)
else()
  find_program(NPM npm)
  if(BOGIE_VIEWER STREQUAL "AUTO")
    set(optional --optional)
  elseif(NOT NPM)
    message(FATAL_ERROR
      "The viewer of reports is built with npm, which is not installed (Debian: apt-get install "
      "nodejs npm). Install it, or leave `bogie report` without pages: -DBOGIE_VIEWER=OFF.")
  endif()
  file(GLOB_RECURSE VIEWER_SOURCES CONFIGURE_DEPENDS viewer/src/*)
  foreach(name package.json package-lock.json build.mjs tsconfig.json)
    list(APPEND VIEWER_SOURCES ${CMAKE_SOURCE_DIR}/viewer/${name})
  endforeach()
  add_custom_command(OUTPUT ${template}
    COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/build-viewer ${optional} ${template}
    DEPENDS ${VIEWER_SOURCES} ${CMAKE_SOURCE_DIR}/scripts/build-viewer
    COMMENT "The viewer of reports" USES_TERMINAL VERBATIM)
endif()

set_source_files_properties(src/cli/template.c PROPERTIES
  OBJECT_DEPENDS ${template} COMPILE_DEFINITIONS "BOGIE_TEMPLATE=\"${template}\"")

install(FILES ${template} DESTINATION share/bogie RENAME viewer.html) # for Python
