/* libjansson.a is compiled for programs and looks whether it reads the standard input by the
 * address of `stdin`, which an object that is loaded cannot have fixed. Nothing here reads that:
 * what it compares with is this instead (cmake/fmi.cmake: --wrap=stdin). */
extern void *__wrap_stdin;
void *__wrap_stdin;
