// A primary with a streaming replica, run with the embedded server's programs: two servers on copies of one cluster.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '#db/local/embedded.ts'
import { chooseHome, type Home } from '#db/local/embedded-home.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { until } from './node.ts'

export interface PrimaryAndReplica {
  primary: { url: string; db: Db }
  replica: { url: string; db: Db }
  /** Stops the primary like a crash. */
  crash(): Promise<void>
  close(): Promise<void>
}

const quiet = { info: () => {}, warn: () => {} }

/** Starts both servers on a migrated database. */
export async function startPrimaryAndReplica(): Promise<PrimaryAndReplica> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'mintmark-replica-')))
  const embedded = await startEmbedded({ dataDir, log: quiet, durable: false })
  const seeded = openPool<Schema>({ url: embedded.url, max: 1, applicationName: 'mintmark test' })
  await migrate(seeded)
  await seeded.close()
  await embedded.stop()
  const home = chooseHome(dataDir, quiet)
  const { password } = new URL(embedded.url.replace('@/', '@host/'))
  const open = (directory: string) => {
    const url = `postgresql://mintmark:${password}@/mintmark?host=${encodeURIComponent(directory)}&port=5432`
    return { url, db: openPool<Schema>({ url, max: 4, applicationName: 'mintmark test' }) }
  }
  const copy = `${home.data}-replica`
  const [primary, replica] = [open(home.data), open(copy)]
  // A first run, because a standby rejects a cluster that was last written without the required log.
  await stop(await run(home, home.data, primary.db), 'SIGINT')
  execFileSync('cp', ['-a', home.data, copy])
  const conninfo = `host=${home.data} port=5432 user=mintmark password=${password}`
  writeFileSync(join(copy, 'standby.signal'), '')
  writeFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\nhot_standby_feedback = on\n`)
  const servers = [await run(home, home.data, primary.db), await run(home, copy, replica.db)]
  const close = async () => {
    await Promise.all([primary.db.close(), replica.db.close()])
    for (const server of servers.toReversed()) await stop(server, 'SIGINT')
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { primary, replica, crash: () => stop(servers[0]!, 'SIGQUIT'), close }
}

/** Not the embedded server's settings, which disable the log that a replica needs. */
async function run(home: Home, directory: string, db: Db): Promise<ChildProcess> {
  const settings = ['listen_addresses=', `unix_socket_directories=${directory}`, 'port=5432', 'wal_level=replica', 'fsync=off', 'shared_buffers=32MB']
  const args = ['-D', directory, ...settings.flatMap((setting) => ['-c', setting])]
  const user = home.user ? { uid: home.user.uid, gid: home.user.gid } : {}
  const server = spawn(join(home.native, 'bin/postgres'), args, { cwd: '/', env: { LC_ALL: 'C' }, ...user, stdio: 'ignore' })
  const end = () => void server.kill('SIGQUIT')
  process.once('exit', end)
  server.once('exit', () => process.off('exit', end))
  await until('the server takes connections', () =>
    db.pool.query('select 1').then(
      () => true,
      () => false,
    ),
  )
  return server
}

async function stop(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill(signal)
  await ended
}
