// How the tests run: in Node, two files at a time, on one PostgreSQL that the global set-up starts.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Threads that import files, and programs that tests start, find what they load compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/mintmark', import.meta.url))

export default defineConfig({
  // As Node resolves it: otherwise it would be loaded twice, once for us and once for what depends on it.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/console/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
