/* A fuzzer without libFuzzer, COUNT FILE...: its entry gets random bytes, the same ones each time,
 * and then the files, which are what libFuzzer once found. With these the lists of changes that
 * fuzz_checkpoint.c and others read are tried by every compiler. */
#include "fuzz.h"

#include <stdio.h>

enum { LENGTH = 96 };

static void try_file(const char *path)
{
    uint8_t bytes[4096];
    FILE *file = fopen(path, "rb");
    if (!file)
        abort();
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
}

int main(int argc, char **argv)
{
    const long runs = argc > 1 ? atol(argv[1]) : 100;
    uint64_t seed = 20;
    LLVMFuzzerInitialize(&argc, &argv);
    for (long k = 0; k < runs; k++) {
        uint8_t bytes[LENGTH];
        size_t size = 0;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t length = 1 + (seed >> 40) % LENGTH;
        while (size < length) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[size++] = (uint8_t)(seed >> 33);
        }
        LLVMFuzzerTestOneInput(bytes, size);
    }
    for (int k = 2; k < argc; k++)
        try_file(argv[k]);
    printf("%ld inputs\n", runs + (argc > 2 ? argc - 2 : 0));
    return 0;
}
