// Builds the console when the project is installed (`prepare`); without development dependencies the server does without it.
import { existsSync } from 'node:fs'

const hasVite = existsSync(new URL('../node_modules/vite/package.json', import.meta.url))

if (hasVite) {
  const { build } = await import('vite')
  await build({ configFile: `${import.meta.dirname}/vite.config.ts` })
} else {
  process.stdout.write('The console is not built: vite is not installed\n')
}
