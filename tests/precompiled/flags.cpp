// Nothing: what is precompiled is so with the flags that this file is compiled with.
