// Builds GraphiQL on installation (`prepare`); without development dependencies, the server runs without it.
import { existsSync } from 'node:fs'

const hasVite = existsSync(new URL('../node_modules/vite/package.json', import.meta.url))

if (hasVite) {
  const { build } = await import('vite')
  await build({ configFile: `${import.meta.dirname}/vite.config.ts` })
} else {
  process.stdout.write('GraphiQL is not built: vite is not installed\n')
}
