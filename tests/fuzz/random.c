/* A fuzzer without libFuzzer: its entry gets random bytes, the same ones each time. With these the
 * lists of changes that fuzz_checkpoint.c and others read are tried by every compiler. */
#include "fuzz.h"

#include <stdio.h>

enum { LENGTH = 96 };

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
    printf("%ld inputs\n", runs);
    return 0;
}
