# The front door. Every target first installs what it needs, when something is missing (Debian).

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
ASAN := build-asan
JOBS ?= 2

CMAKE := cmake -S . -G Ninja -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
CTEST := ctest --output-on-failure -j $(JOBS)
SANITIZER_OPTIONS := \
	ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1

.PHONY: run build test asan bench format install clean

# Drives the five-link suspension down a stair, prints its certificate, and makes a page of it.
STAIR := {"type":"stair","at":6,"height":-0.05,"speed":"speed","base":"base"}
run: build
	$(BUILD)/bogie run models/five-link-suspension.json --set 'road=$(STAIR)' \
		-o $(BUILD)/five-link-stair.h5 --summary $(BUILD)/five-link-stair.json
	$(BUILD)/bogie report $(BUILD)/five-link-stair.h5 -o $(BUILD)/five-link-stair.html \
		--title "Five-link suspension on a stair"
	@echo "Open in a browser: $(abspath $(BUILD)/five-link-stair.html)"

build:
	@scripts/install-dependencies build
	$(CMAKE) -B $(BUILD)
	cmake --build $(BUILD) -j $(JOBS) --target bogie-program

# The whole suite: as it is shipped and with a minute of fuzzing, then once more with address and undefined-behaviour sanitizers,
# whatever the first half says; it is green when both are.
test:
	@scripts/install-dependencies build test
	$(CMAKE) -B $(BUILD) -DBOGIE_TESTS=ON -DBOGIE_FUZZ=ON -DBOGIE_WERROR=ON
	cmake --build $(BUILD) -j $(JOBS)
	@green=yes; (cd $(BUILD) && $(CTEST)) || green=no; $(MAKE) asan || green=no; \
		test $$green = yes || { echo "make test: some tests failed, see above"; exit 1; }

asan:
	@scripts/install-dependencies build test
	$(CMAKE) -B $(ASAN) -DBOGIE_TESTS=ON -DBOGIE_SANITIZE=ON -DBOGIE_WERROR=ON
	cmake --build $(ASAN) -j $(JOBS)
	cd $(ASAN) && $(SANITIZER_OPTIONS) $(CTEST)

bench:
	@scripts/install-dependencies build bench
	$(CMAKE) -B $(BUILD) -DBOGIE_BENCH=ON
	cmake --build $(BUILD) -j $(JOBS) --target bench

format:
	@scripts/install-dependencies format
	find include src equations tests bench examples \( -name '*.[ch]' -o -name '*.cpp' \) -exec clang-format -i {} +

install: build
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf $(BUILD) $(ASAN)
