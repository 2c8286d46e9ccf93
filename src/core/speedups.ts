// Mechanisms that exist for speed alone, each of which can be switched off to measure what it gives.

/** Named as in docs/benchmarks.md. */
export const SPEEDUPS = ['fast-path', 'response-cache', 'query-cache', 'graphql-items', 'graphql-compiler'] as const
export type Speedup = (typeof SPEEDUPS)[number]
