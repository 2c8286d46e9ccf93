// Builds dist/browser.js: the client with openapi-fetch in one file, for pages without a bundler.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  build: {
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => 'browser.js' },
    // Next to the output of tsc.
    emptyOutDir: false,
    target: 'es2022',
    minify: true,
  },
})
