// Builds the pages on installation (`prepare`), the console and the seller's desk separately: no listener serves code of the other one; and the
// price chart for other web pages. Without development dependencies, the server runs without them.
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
        // No inline scripts or styles: the page's security headers forbid them.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
      },
    })
    packFiles(`${ROOT}dist/${app}`)
  }
  await build({
    configFile: false,
    root: `${ROOT}ui`,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // One file, so that pages of other origins import it by one address.
    build: {
      outDir: `${ROOT}dist/price-chart`,
      emptyOutDir: true,
      target: 'es2023',
      // These know light-dark(), whose replacement would need the style sheet of the whole page.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      minify: true,
      lib: { entry: 'price-chart-element.tsx', formats: ['es'], fileName: () => 'price-chart.js' },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })
} else {
  process.stdout.write('The console and the desk are not built: vite is not installed\n')
}

/** Writes a compressed copy next to each file, for the server to send. */
function packFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(html|js|css|svg)$/.test(file))) {
    const bytes = readFileSync(`${folder}/${name}`)
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(bytes))
    writeFileSync(`${folder}/${name}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
