// Builds the console when the project is installed (`prepare`); without development dependencies the server does without it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const hasVite = existsSync(new URL('../node_modules/vite/package.json', import.meta.url))

if (hasVite) {
  const { build } = await import('vite')
  await build({ configFile: `${import.meta.dirname}/vite.config.ts` })
  packFiles(`${import.meta.dirname}/../dist/console`)
} else {
  process.stdout.write('The console is not built: vite is not installed\n')
}

/** Writes each file compressed beside itself, as the server sends it. */
function packFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(html|js|css|svg)$/.test(file))) {
    const bytes = readFileSync(`${folder}/${name}`)
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(bytes))
    writeFileSync(`${folder}/${name}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
