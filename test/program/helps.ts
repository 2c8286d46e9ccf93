// Asks the program for the help of each command, in one process since its start takes longest: `node helps.ts <command>…`.
const program = new URL('../../src/cli/program.ts', import.meta.url).href
const names = process.argv.splice(2)
// The program listens for a reader that is gone each time.
process.stdout.setMaxListeners(0)

for (const name of names) {
  process.argv.splice(2, 2, name, '--help')
  // Run anew for another query; what it imports is loaded once.
  await import(`${program}?${name}`)
  process.stdout.write(`${JSON.stringify({ name, code: process.exitCode })}\n`)
}
