// Counts of answered requests by route and status, cheap enough for every request; metrics are written from them.
import type { FastifyInstance } from 'fastify'

/** Upper bounds of the duration buckets, in seconds. */
export const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

export interface RouteCounts {
  method: string
  route: string
  status: number
  count: number
  seconds: number
  /** requests no longer than the bound at the same place, not cumulative; the last one: longer than all */
  buckets: number[]
}

/** Counts answers and their durations by method, route and status, for `/metrics`. */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>()

  /** Counts what a listener answers from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      this.add(request.method, request.routeOptions.url ?? 'unknown', reply.statusCode, reply.elapsedTime)
      done()
    })
  }

  /** Counts one answer. */
  add(method: string, route: string, status: number, milliseconds: number): void {
    addTo(this.#of(method, route, status), milliseconds)
  }

  /** Counts answers of one route without looking a success up each time; it shows from the first answer on. */
  counter(route: string): (method: string, status: number, milliseconds: number) => void {
    let last: RouteCounts | null = null
    return (method, status, milliseconds) => {
      if (last?.status !== status || last.method !== method) last = this.#of(method, route, status)
      addTo(last, milliseconds)
    }
  }

  all(): RouteCounts[] {
    return [...this.#routes.values()]
  }

  #of(method: string, route: string, status: number): RouteCounts {
    const key = `${method} ${route} ${status}`
    let counts = this.#routes.get(key)
    if (!counts) {
      const buckets = [...DURATION_BUCKETS, 0].fill(0)
      counts = { method, route, status, count: 0, seconds: 0, buckets }
      this.#routes.set(key, counts)
    }
    return counts
  }
}

function addTo(counts: RouteCounts, milliseconds: number): void {
  const seconds = milliseconds / 1_000
  let bucket = 0
  while (bucket < DURATION_BUCKETS.length && seconds > DURATION_BUCKETS[bucket]!) bucket += 1
  counts.count += 1
  counts.seconds += seconds
  counts.buckets[bucket]! += 1
}
