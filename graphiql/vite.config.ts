// How GraphiQL is built: into dist/graphiql, every file from our own server, no script inside the page.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/graphql/',
  // Packages marked for React servers make a warning each.
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
