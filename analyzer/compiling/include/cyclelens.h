/* Marks code for Cyclelens in C and C++ (gcc, clang): https://github.com/cyclelens/cyclelens
 *
 *     CYCLELENS_BEGIN("dot");
 *     for (long i = 0; i < n; i++)
 *         s += a[i] * b[i];
 *     CYCLELENS_END();
 *
 * A mark is a name in the object file's table of symbols. It is no instruction and no byte of the program, and it
 * asks nothing of the compiler but its place; put marks around a loop, not into it. Names have letters, digits and _.
 */
#ifndef CYCLELENS_H
#define CYCLELENS_H

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define CYCLELENS_BEGIN(name) __asm__ volatile("cyclelens.begin." name ".%=:" : :)
#define CYCLELENS_END() __asm__ volatile("cyclelens.end.%=:" : :)
#else
#define CYCLELENS_BEGIN(name) ((void)0)
#define CYCLELENS_END() ((void)0)
#endif

#endif
