// Prints the program's help for each command, in one process because starting takes longest: `node helps.ts <command>…`.
const program = new URL('../../src/cli/program.ts', import.meta.url).href
const names = process.argv.splice(2)
// Each run of the program adds a listener for a closed output.
process.stdout.setMaxListeners(0)

for (const name of names) {
  process.argv.splice(2, 2, name, '--help')
  // A different query string runs the module again; its imports are loaded once.
  await import(`${program}?${name}`)
  process.stdout.write(`${JSON.stringify({ name, code: process.exitCode })}\n`)
}
