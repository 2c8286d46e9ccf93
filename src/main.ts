#!/usr/bin/env node
// Entry point. Compiled code is cached next to the packages, so that later starts are faster.
import { enableCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Commands that answer requests; the first is the default. */
const ANSWERING: readonly (string | undefined)[] = [undefined, 'serve', 'api', 'operator']
/** How V8 manages the memory of a process that answers requests; its defaults keep the heap of an often idle process small. */
const MEMORY = [
  // While a larger young generation is collected, during a price job, all requests wait for 8 to 20 ms. The threads of a collection would share a single
  // core with the one that answers, at 4 ms each in turn.
  ...(availableParallelism() > 1 ? ['--max-semi-space-size=8'] : ['--max-semi-space-size=2', '--single-threaded-gc']),
  // The whole heap is collected when it has grown by half: by default, a process that was idle collects it again after a few megabytes.
  '--no-memory-reducer',
  '--heap-growing-percent=50',
]

// Node reads these only when it starts: the process replaces itself and keeps its id. Windows has no such call, and a process of a supervisor would
// lose its channel; it inherits the options from a supervisor of this release.
const isSet = process.execArgv.some((option) => option.startsWith('--max-semi-space-size'))
if (!isSet && !process.connected && ANSWERING.includes(process.argv[2]) && process.platform !== 'win32') {
  process.execve!(process.execPath, [process.execPath, ...MEMORY, ...process.execArgv, ...process.argv.slice(1)])
}

// If the folder is not writable, nothing is cached.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mintmark', import.meta.url)))
try {
  await import('./cli/program.ts')
} catch (error) {
  // The games are loaded with the modules that use them, before the program can report errors.
  if (!(error instanceof Error) || error.name !== 'GameDataError') throw error
  process.stderr.write(`mintmark: the data of the games is invalid\n${error.message}\n`)
  process.exitCode = 1
}
