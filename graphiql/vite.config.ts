// Build of GraphiQL: into dist/graphiql, every file from our own server, no inline scripts.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/graphql/',
  // Hides a warning for each package marked for React server components.
  logLevel: 'error',
  worker: { format: 'es' },
  build: {
    outDir: '../dist/graphiql',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 10_000,
  },
})
