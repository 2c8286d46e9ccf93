// Turns off the source maps that Vitest turns on: Node runs TypeScript with the positions of the source, and each function that Fastify
// compiles for its routes would be searched for a map.
import { setSourceMapsSupport } from 'node:module'

setSourceMapsSupport(false)
