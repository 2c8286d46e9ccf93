// Builds the pages when the project is installed (`prepare`), the console and the seller's desk each on its own: no
// listener serves code of the other. Without development dependencies the server does without them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const APPS = ['console', 'desk']

if (existsSync(`${ROOT}node_modules/vite/package.json`)) {
  const { build } = await import('vite')
  for (const app of APPS) {
    await build({
      configFile: false,
      root: `${ROOT}${app}`,
      base: `/${app}/`,
      publicDir: `${ROOT}ui/public`,
      logLevel: 'warn',
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        outDir: `${ROOT}dist/${app}`,
        emptyOutDir: true,
        target: 'es2023',
        // No script or style stands inside the page, as its headers demand.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
      },
    })
    packFiles(`${ROOT}dist/${app}`)
  }
} else {
  process.stdout.write('The console and the desk are not built: vite is not installed\n')
}

/** Writes each file compressed beside itself, as the server sends it. */
function packFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(html|js|css|svg)$/.test(file))) {
    const bytes = readFileSync(`${folder}/${name}`)
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(bytes))
    writeFileSync(`${folder}/${name}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
