// Builds the client that the service serves as /client.js, on installation (`prepare`); without vite, it is not served.
import { existsSync } from 'node:fs'

const hasVite = existsSync(new URL('../node_modules/vite/package.json', import.meta.url))

if (hasVite) {
  const { build } = await import('vite')
  const lib = { entry: 'src/index.ts', formats: ['es' as const], fileName: () => 'client.js' }
  await build({ configFile: `${import.meta.dirname}/vite.config.ts`, build: { outDir: '../dist/client', emptyOutDir: true, lib } })
} else {
  process.stdout.write('The client is not built: vite is not installed\n')
}
