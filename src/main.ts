#!/usr/bin/env node
// Where the program begins: what it loads is compiled once and kept beside its packages, so that the next start is shorter.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Where the folder cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mintmark', import.meta.url)))
await import('./cli/program.ts')
