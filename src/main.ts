#!/usr/bin/env node
// Entry point. Compiled code is cached next to the packages, so that later starts are faster.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

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
