/* A shared library without the function bogie_equations. */
int something_else(void);
int something_else(void)
{
    return 42;
}
