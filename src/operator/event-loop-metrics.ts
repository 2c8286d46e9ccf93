// How long iterations of the event loop take, in the Prometheus format: what runs in one of them delays all other requests of the process.
import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const NAME = 'mintmark_event_loop_iteration_seconds'
const BOUNDS_MS = [0.5, 1, 2, 3, 5, 10, 20, 50, 100, 500]
const MS = 1e6

/** `cdf` is the share of values up to one; Node's types do not have it yet. */
type Delays = ELDHistogram & { cdf: (nanoseconds: number) => number }

/** The event loop belongs to the process, whatever number of nodes it runs. */
let delays: Delays | null = null

/** Starts measuring, at the first scrape of a process; the returned function renders the histogram since then. */
export function openEventLoopMetrics(process: string | null): () => string {
  if (!delays) {
    delays = monitorEventLoopDelay({ samplePerIteration: true }) as Delays
    delays.enable()
  }
  const measured = delays
  const label = process === null ? '' : `process="${process}",`
  const labels = process === null ? '' : `{process="${process}"}`
  return () => {
    const { count } = measured
    const sum = count === 0 ? 0 : (measured.mean * count) / MS / 1_000
    const buckets = BOUNDS_MS.map((bound) => {
      const upTo = count === 0 ? 0 : Math.round(measured.cdf(bound * MS) * count)
      return `${NAME}_bucket{${label}le="${bound / 1_000}"} ${upTo}`
    })
    return [
      `# HELP ${NAME} Iterations of the event loop by their duration, without waiting`,
      `# TYPE ${NAME} histogram`,
      ...buckets,
      `${NAME}_bucket{${label}le="+Inf"} ${count}`,
      `${NAME}_sum${labels} ${sum}`,
      `${NAME}_count${labels} ${count}`,
      '',
    ].join('\n')
  }
}
