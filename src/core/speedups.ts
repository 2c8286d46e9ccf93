// Performance optimisations that can be switched off to measure their effect.

/** Named as in docs/benchmarks.md. */
export const SPEEDUPS = ['fast-path', 'response-cache', 'query-cache', 'ready-bytes', 'graphql-items', 'graphql-compiler'] as const
export type Speedup = (typeof SPEEDUPS)[number]
