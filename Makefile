# The front door. Every target first installs what it needs, when something is missing (Debian).

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
ASAN := build-asan
PACKAGE := build-package
JOBS ?= 2

CMAKE := cmake -S . -G Ninja -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
CTEST := ctest --output-on-failure -j $(JOBS)
SANITIZER_OPTIONS := \
	ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1

.PHONY: run build test asan bench format install package clean

# Drives the five-link suspension down a stair, prints its certificate, and makes a page of it.
STAIR := {"type":"stair","at":6,"height":-0.05,"speed":"speed","base":"base"}
run: build
	$(BUILD)/bogie run models/five-link-suspension.json --set 'road=$(STAIR)' \
		-o $(BUILD)/five-link-stair.h5 --summary $(BUILD)/five-link-stair.json
	@if [ -s $(BUILD)/viewer-template.html ]; then \
		$(BUILD)/bogie report $(BUILD)/five-link-stair.h5 -o $(BUILD)/five-link-stair.html \
			--title "Five-link suspension on a stair" && \
		echo "Open in a browser: $(abspath $(BUILD)/five-link-stair.html)"; \
	else \
		echo "No page: 'make run' makes it where npm is installed and reaches its registry (npm config set proxy URL)"; \
	fi

# Without npm, or where it fails, there are no pages, and the next build tries again.
build:
	@scripts/install-dependencies build
	@scripts/install-dependencies page || echo "Going on without npm"
	@if [ ! -s $(BUILD)/viewer-template.html ]; then rm -f $(BUILD)/viewer-template.html; fi
	$(CMAKE) -B $(BUILD)
	cmake --build $(BUILD) -j $(JOBS) --target bogie-program

# The whole suite: as it is shipped and with a minute of fuzzing, then once more with address and undefined-behaviour sanitizers,
# whatever the first half says; it is green when both are.
test:
	@scripts/install-dependencies build page test
	$(CMAKE) -B $(BUILD) -DBOGIE_TESTS=ON -DBOGIE_VIEWER=ON -DBOGIE_FUZZ=ON -DBOGIE_WERROR=ON
	cmake --build $(BUILD) -j $(JOBS)
	@green=yes; (cd $(BUILD) && $(CTEST)) || green=no; $(MAKE) asan || green=no; \
		test $$green = yes || { echo "make test: some tests failed, see above"; exit 1; }

asan:
	@scripts/install-dependencies build page test
	$(CMAKE) -B $(ASAN) -DBOGIE_TESTS=ON -DBOGIE_VIEWER=ON -DBOGIE_SANITIZE=ON -DBOGIE_WERROR=ON
	cmake --build $(ASAN) -j $(JOBS)
	cd $(ASAN) && $(SANITIZER_OPTIONS) $(CTEST)

bench:
	@scripts/install-dependencies build page bench
	$(CMAKE) -B $(BUILD) -DBOGIE_BENCH=ON
	cmake --build $(BUILD) -j $(JOBS) --target bench

format:
	@scripts/install-dependencies format
	find include src equations tests bench examples \( -name '*.[ch]' -o -name '*.cpp' \) -exec clang-format -i {} +

install: build
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

# Debian packages of the program, its library and the module of Python, and of studies under MPI.
package:
	@scripts/install-dependencies build page package
	cmake -S . -G Ninja -B $(PACKAGE) -DCMAKE_INSTALL_PREFIX=/usr -DBOGIE_VIEWER=ON -DBOGIE_TESTS=OFF -DBOGIE_BENCH=OFF
	cmake --build $(PACKAGE) -j $(JOBS)
	cd $(PACKAGE) && cpack
	@ls $(PACKAGE)/*.deb

clean:
	rm -rf $(BUILD) $(ASAN) $(PACKAGE)
