// `node reliability/slow-clients.ts`: runs slow and misbehaving clients against the program; other clients must not be affected.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { residentMb } from '../bench/processes.ts'
import { startProgram } from './bad-input-program.ts'
import { prepareTarget } from './bad-input-target.ts'
import { conclude, progress } from './report.ts'
import { runMisbehavingClients, FULL, SHORT } from './slow-clients-run.ts'

const { short } = new Command('slow-clients')
  .description('Runs slow and misbehaving clients against the program while a well-behaved client measures response times')
  .option('--short', 'a shorter run', false)
  .parse()
  .opts<{ short: boolean }>()

const program = await startProgram()
try {
  const { keys, ids } = await prepareTarget(program)
  const folder = join(program.dataDir, 'uploads')
  const node = {
    ...program,
    key: keys.enterprise,
    collection: ids.collection[0]!,
    residentMb: () => residentMb(program.pid),
    uploads: () => (existsSync(folder) ? readdirSync(folder) : []),
  }
  const findings = await runMisbehavingClients(node, short ? SHORT : FULL, progress)
  const errors = program.errors()
  for (const line of errors.slice(0, 5)) console.log(line)
  findings.push({ what: 'errors in the log', value: errors.length, promised: '0', holds: errors.length === 0 })
  findings.push({ what: 'the program', value: program.alive() ? 'running' : 'exited', promised: 'running', holds: program.alive() })
  conclude('slow and misbehaving clients', findings)
} finally {
  await program.stop()
}
