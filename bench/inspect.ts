// Inspects a running node: where processor time is spent, and memory in use after garbage collection.
import { setTimeout as delay } from 'node:timers/promises'
import type { Node } from './processes.ts'

const WAKE_MS = 5_000

interface CallFrame {
  functionName: string
  url: string
  lineNumber: number
}

interface Profile {
  nodes: { id: number; callFrame: CallFrame }[]
  samples: number[]
  timeDeltas: number[]
}

/** In bytes. */
export interface HeldMemory {
  resident: number
  /** live objects and the memory they hold outside the JavaScript heap */
  held: number
}

/** Where processor time was spent while something ran. */
export interface ProcessorProfile {
  /** in the format of browsers' developer tools */
  json: string
  /** functions with the longest self time, as shares of the total */
  top: { where: string; share: number }[]
}

/** What delayed responses while something ran; durations in milliseconds. */
export interface Pauses {
  /** longest iteration of the event loop */
  longestMs: number
  /** iterations longer than 3 ms */
  longIterations: number
  iterations: number
  longestCollectionMs: number
  /** garbage collections longer than 5 ms */
  longCollections: number
  collections: number
}

const WATCH_PAUSES = `(() => {
  const { monitorEventLoopDelay, PerformanceObserver } = process.getBuiltinModule('perf_hooks')
  const loop = monitorEventLoopDelay({ samplePerIteration: true })
  const collections = []
  const observer = new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) collections.push(duration) })
  observer.observe({ entryTypes: ['gc'] })
  loop.enable()
  globalThis.readPauses = () => {
    loop.disable()
    observer.disconnect()
    delete globalThis.readPauses
    const iterations = loop.count
    return {
      longestMs: loop.max / 1e6, iterations, longIterations: iterations - Math.round(loop.cdf(3e6) * iterations),
      longestCollectionMs: Math.max(0, ...collections), collections: collections.length, longCollections: collections.filter((ms) => ms > 5).length,
    }
  }
})()`

/** Measures the pauses of a node while something runs. */
export async function pausesWhile(node: Node, run: () => Promise<unknown>): Promise<Pauses> {
  const session = await openSession(node)
  const evaluate = (expression: string) => session.call('Runtime.evaluate', { expression, returnByValue: true })
  await evaluate(WATCH_PAUSES)
  await run()
  const { result } = (await evaluate('readPauses()')) as { result: { value: Pauses } }
  session.close()
  return result.value
}

/** Profiles a node while something runs. */
export async function profileWhile(node: Node, run: () => Promise<unknown>): Promise<ProcessorProfile> {
  const session = await openSession(node)
  await session.call('Profiler.enable')
  await session.call('Profiler.start')
  await run()
  const { profile } = (await session.call('Profiler.stop')) as { profile: Profile }
  session.close()
  return { json: JSON.stringify(profile), top: topOf(profile) }
}

/** Memory of a node after a full garbage collection. */
export async function heldMemory(node: Node): Promise<HeldMemory> {
  const session = await openSession(node)
  for (let i = 0; i < 2; i += 1) await session.call('HeapProfiler.collectGarbage')
  const { result } = (await session.call('Runtime.evaluate', { expression: 'process.memoryUsage()', returnByValue: true })) as {
    result: { value: NodeJS.MemoryUsage }
  }
  session.close()
  const { rss, heapUsed, external } = result.value
  return { resident: rss, held: heapUsed + external }
}

function topOf({ nodes, samples, timeDeltas }: Profile): ProcessorProfile['top'] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const micros = new Map<string, number>()
  let all = 0
  for (const [i, sample] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(sample)!
    if (functionName === '(idle)') continue
    const file = url.replace(/^.*\/(?=(src|node_modules)\/)/, '')
    const where = url ? `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}` : functionName
    micros.set(where, (micros.get(where) ?? 0) + timeDeltas[i]!)
    all += timeDeltas[i]!
  }
  return [...micros].map(([where, time]) => ({ where, share: time / all })).sort((a, b) => b.share - a.share)
}

/** A session of the DevTools protocol; SIGUSR1 starts the inspector of a node. */
async function openSession({ pid, inspectPort }: Node) {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await addressOf(inspectPort))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const waiting = new Map<number, (answer: { result?: object; error?: object }) => void>()
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as { id?: number; result?: object; error?: object }
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  })
  let calls = 0
  const call = (method: string, params: object = {}) =>
    new Promise<object>((resolve, reject) => {
      calls += 1
      waiting.set(calls, ({ result, error }) => (result ? resolve(result) : reject(new Error(`${method}: ${JSON.stringify(error)}`))))
      socket.send(JSON.stringify({ id: calls, method, params }))
    })
  return { call, close: () => socket.close() }
}

async function addressOf(port: number): Promise<string> {
  const deadline = performance.now() + WAKE_MS
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/json/list`)
      return ((await response.json()) as { webSocketDebuggerUrl: string }[])[0]!.webSocketDebuggerUrl
    } catch (error) {
      if (performance.now() > deadline) throw error
      await delay(50)
    }
  }
}
