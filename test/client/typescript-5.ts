// Preloaded into a generator that needs the compiler API of TypeScript, which TypeScript 7 does not have: resolves to TypeScript 5.
import { registerHooks } from 'node:module'

const OLDER = new URL('../../client/node_modules/typescript/lib/typescript.js', import.meta.url).href

registerHooks({ resolve: (specifier, context, next) => next(specifier === 'typescript' ? OLDER : specifier, context) })
