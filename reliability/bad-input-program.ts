// Runs the program with its demo in a temporary directory, for scripts that attack it.
import { join } from 'node:path'
import { embeddedConnection } from '#db/local/embedded.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { runCommand, startService, workDir } from './service.ts'

export interface Program {
  publicUrl: string
  operatorUrl: string
  operatorToken: string
  db: Db
  pid: number
  dataDir: string
  /** latest error lines of its log */
  errors: () => string[]
  /** whether it is still running */
  alive: () => boolean
  stop: () => Promise<void>
}

export async function startProgram(): Promise<Program> {
  const { path, remove } = workDir()
  const dataDir = join(path, 'data')
  const service = await startService({ DATA_DIR: dataDir, PORT: '0', OPERATOR_PORT: '0', MINTMARK_DEMO: '1' })
  const db = openPool<Schema>({ url: embeddedConnection(dataDir)!, max: 2, applicationName: 'mintmark reliability' })
  // Not the bootstrap token, which is refused from addresses that send wrong tokens.
  const { output } = await runCommand({ DATA_DIR: dataDir }, 'operator-token', 'create', '--label', 'bad input', '--json')
  const { token } = JSON.parse(output) as { token: string }
  return {
    publicUrl: service.publicUrl,
    operatorUrl: service.operatorUrl,
    operatorToken: token,
    db,
    pid: service.child.pid!,
    dataDir,
    errors: () => service.log().filter((line) => /"level":[56]0/.test(line)),
    alive: () => service.ended() === null,
    stop: async () => {
      await db.close()
      if (service.ended() === null) await service.kill('SIGTERM')
      remove()
    },
  }
}
