// The command `doctor`: checks settings, ports and everything in the operator API's health report, and says what to do.
import { createServer, isIPv6 } from 'node:net'
import type { Command } from 'commander'
import { pino } from 'pino'
import { machineNow, timeoutSignal } from '#core/process/time-and-chance.ts'
import { reason } from '#core/problems.ts'
import { embeddedConnection } from '#db/local/embedded.ts'
import { openDatabase } from '#db/open.ts'
import { databaseFindings, machineFindings } from '#health/checks.ts'
import { type Finding, finding } from '#health/findings.ts'
import { applyStored, liveConfig } from '#live-settings/live-config.ts'
import { type Config, readConfig } from '../config.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

const ANSWER_MS = 2_000

export function register(program: Command, _open: OpenCli, print: Print): void {
  addCommand(program, 'doctor', 'check settings, database, migrations, clock, worker, ports, disk, price sources and exchange rates').action(
    async (options: OutputOptions) => {
      const findings = await examine()
      const text = findings.map(
        ({ check, ok, found, advice }) => `${ok ? '✓' : '✗'} ${check.padEnd(11)} ${found}${advice ? `\n              → ${advice}` : ''}`,
      )
      printResult(print, options, { ok: findings.every((finding) => finding.ok), findings }, text.join('\n'))
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1
    },
  )
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    return [finding('settings', false, 'settings_invalid', { message: (error as Error).message })]
  }
  const running = config.databaseUrl === null && embeddedConnection(config.dataDir) !== null
  return [
    ...(await machineFindings(config)),
    await port('PORT', config.host, config.port, running),
    await port('OPERATOR_PORT', config.operatorHost, config.operatorPort, running),
    ...(config.metricsPort === null ? [] : [await port('METRICS_PORT', config.metricsHost, config.metricsPort, false)]),
    ...(await database(config, running)),
  ]
}

/** Names of the checks by setting. */
const PORT_CHECKS = { PORT: 'port', OPERATOR_PORT: 'op. port', METRICS_PORT: 'metrics' }

async function port(setting: keyof typeof PORT_CHECKS, host: string, number: number, running: boolean): Promise<Finding> {
  const check = PORT_CHECKS[setting]
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port: number }, () => server.close(() => resolve(true)))
  })
  const address = `${host}:${number}`
  if (free) return finding(check, true, 'port_free', { address })
  if (running) return finding(check, true, 'port_used_here', { address })
  if (await isMintmark(host, number)) return finding(check, true, 'port_used_by_us', { address })
  return finding(check, false, 'port_used', { address, setting })
}

/** Every response of the service has the same envelope, on any path. */
async function isMintmark(host: string, port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/health/live`, { signal: timeoutSignal(ANSWER_MS) })
    const { success } = (await response.json()) as { success?: unknown }
    return typeof success === 'boolean' && response.headers.has('x-request-id')
  } catch {
    return false
  }
}

async function database(config: Config, running: boolean): Promise<Finding[]> {
  const log = pino({ level: 'silent' })
  try {
    const opened = await openDatabase(config, { applicationName: 'mintmark doctor', log, max: 2, own: false })
    try {
      const live = liveConfig(config)
      // Before the migration, there are none.
      await applyStored(live, opened.db.kysely, log).catch(() => {})
      // An embedded database that is opened only for this command has no other users.
      return await databaseFindings(live, {
        db: opened.db,
        describe: reason('said', { text: opened.describe }),
        needsWorker: config.databaseUrl !== null || running,
        now: machineNow(),
      })
    } finally {
      await opened.close()
    }
  } catch (error) {
    const rule = config.databaseUrl ? 'database_url_unreachable' : 'database_not_started'
    return [finding('database', false, rule, { message: (error as Error).message })]
  }
}
