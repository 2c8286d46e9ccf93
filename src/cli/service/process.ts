// One of the processes that the supervisor runs: a node with a part of the service, which starts and ends on request.
import type { Logger } from 'pino'
import type { Log } from '#core/context.ts'
import { freeStartMemory } from '#core/process/free-start-memory.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import type { Config } from '../../config.ts'
import { type RunningNode, startNode } from '#node/start.ts'
import { textLog } from '../terminal/log.ts'
import { type Ending, sendToSupervisor, type ToProcess } from '../terminal/messages.ts'

type Start = Extract<ToProcess, { kind: 'start' }>

/** Runs its part until the supervisor ends it, and ends the process. It does not outlive the supervisor. */
export async function runProcess(config: Config, log: Logger): Promise<never> {
  const { started, ending, others, metricsFrom } = orders()
  let code = 0
  try {
    const start = await started
    await runPart(start, { config, log: log.child({ process: start.part.name }), ending, others, metricsFrom })
  } catch (error) {
    code = 1
    const message = error instanceof Error ? error.message : String(error)
    await new Promise<void>((sent) => process.send!({ kind: 'failed', message }, undefined, undefined, () => sent()))
  }
  process.exit(code)
}

interface Running extends Omit<ReturnType<typeof orders>, 'started'> {
  config: Config
  log: Logger
}

async function runPart({ part, databaseUrl, operatorPort, demoKey }: Start, { config, log, ending, others, metricsFrom }: Running): Promise<void> {
  const database = await openDatabase({ ...config, databaseUrl }, { applicationName: `mintmark process ${part.name}`, log: textLog(log), own: true })
  let node: RunningNode | null = null
  try {
    // After an upgrade, this process may be newer than the supervisor.
    await migrate(database.db)
    node = await startNode({
      config: { ...config, operatorPort },
      db: database.db,
      log: log as Log,
      listeners: part.listeners,
      worker: part.worker,
      demoKey,
      process: { name: part.name, otherMetrics: others },
    })
    freeStartMemory()
    metricsFrom(node.metrics)
    sendToSupervisor({ kind: 'ready', publicUrl: node.publicUrl, operatorUrl: node.operatorUrl })
    const how = await ending
    if (how !== 'now') await node.drain({ replaced: how === 'replaced' })
  } finally {
    await node?.close()
    await database.close()
  }
}

/** Handles the messages of the supervisor. */
function orders() {
  let own: (() => Promise<string>) | null = null
  const requests = new Map<number, (texts: string[]) => void>()
  let lastId = 0
  const begun = Promise.withResolvers<Start>()
  const ended = Promise.withResolvers<Ending>()
  process.on('message', (message: ToProcess) => {
    if (message.kind === 'start') begun.resolve(message)
    else if (message.kind === 'others') requests.get(message.id)?.(message.texts)
    else if (message.kind === 'metrics') void own?.().then((text) => sendToSupervisor({ kind: 'metrics', id: message.id, text }))
    else if (own) ended.resolve(message.how)
    // Not serving yet: exit immediately.
    else process.exit(0)
  })
  // A terminal sends this signal to all its processes: the supervisor decides what to do.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => ended.resolve('drained'))
  sendToSupervisor({ kind: 'up' })
  return {
    started: begun.promise,
    ending: ended.promise,
    /** Metrics of the other processes, as the supervisor collects them. */
    others: async (): Promise<string[]> => {
      const id = (lastId += 1)
      const texts = await new Promise<string[]>((resolve) => {
        requests.set(id, resolve)
        sendToSupervisor({ kind: 'others', id })
      })
      requests.delete(id)
      return texts
    },
    /** Sets the source of this process's metrics; until then it exits immediately when it is ended. */
    metricsFrom: (metrics: () => Promise<string>): void => void (own = metrics),
  }
}
