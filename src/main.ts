#!/usr/bin/env node
// Entry point. Compiled code is cached next to the packages, so that later starts are faster.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// If the folder is not writable, nothing is cached.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mintmark', import.meta.url)))
await import('./cli/program.ts')
