// Web Crypto: a global everywhere except in Node 18, which has it in a module.

// A variable hides the module from bundlers, which cannot resolve it for browsers.
const NODE_MODULE: string = 'node:crypto'

export async function webCrypto(): Promise<Crypto> {
  const { crypto } = globalThis as { crypto?: Crypto }
  return crypto ?? ((await import(/* @vite-ignore */ /* webpackIgnore: true */ NODE_MODULE)) as { webcrypto: Crypto }).webcrypto
}
