#!/usr/bin/env node
// Entry point. Compiled code is cached beside the packages, so that later starts are faster.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Where the folder cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mintmark', import.meta.url)))
await import('./cli/program.ts')
