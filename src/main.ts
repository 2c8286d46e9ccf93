#!/usr/bin/env node
// Entry point. Compiled code is cached next to the packages, so that later starts are faster.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Commands that answer requests; the first is the default. */
const ANSWERING: readonly (string | undefined)[] = [undefined, 'serve', 'api', 'operator']
/** How V8 manages the memory of a process that answers requests; its defaults keep the heap of an often idle process small. */
const MEMORY = [
  // While a larger young generation is collected, during a price job, all requests wait for 8 to 20 ms.
  '--max-semi-space-size=8',
  // On few cores, more threads of a collection take turns with the one that answers, at 4 ms each.
  '--v8-pool-size=1',
  // The whole heap is collected when it has grown by half: by default, a process that was idle collects it again after a few megabytes.
  '--no-memory-reducer',
  '--heap-growing-percent=50',
]
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/mintmark', import.meta.url))
const ENVIRONMENT = {
  // Node reads it before this file, and then need not load its compiler of TypeScript.
  NODE_COMPILE_CACHE: COMPILED,
  // The GNU C library would raise this limit, and then keep the memory of freed buffers of up to 32 MB between smaller ones.
  MALLOC_MMAP_THRESHOLD_: '131072',
  // One pool of small buffers for all threads.
  MALLOC_ARENA_MAX: '1',
}

// These are read only when a process starts: it replaces itself and keeps its id. Windows has no such call, and a process of a supervisor would
// lose its channel; it inherits both from a supervisor of this release.
const isSet = process.execArgv.some((option) => option.startsWith('--max-semi-space-size'))
if (!isSet && !process.connected && ANSWERING.includes(process.argv[2]) && process.platform !== 'win32') {
  const words = [process.execPath, ...MEMORY, ...process.execArgv, ...process.argv.slice(1)]
  process.execve!(process.execPath, words, { ...ENVIRONMENT, ...process.env } as NodeJS.ProcessEnv)
}

// If the folder is not writable, nothing is cached.
enableCompileCache(COMPILED)
try {
  await import('./cli/program.ts')
} catch (error) {
  // The games are loaded with the modules that use them, before the program can report errors.
  if (!(error instanceof Error) || error.name !== 'GameDataError') throw error
  process.stderr.write(`mintmark: the data of the games is invalid\n${error.message}\n`)
  process.exitCode = 1
}
