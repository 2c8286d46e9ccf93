// Counts responses by route and status, cheaply enough for every request; `/metrics` reads them.
import type { FastifyInstance } from 'fastify'

/** Upper bounds of the duration buckets, in seconds. */
export const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]

export interface RouteCounts {
  method: string
  route: string
  status: number
  count: number
  seconds: number
  /** requests up to the bound of the same index, not cumulative; the last element: longer than all bounds */
  buckets: number[]
}

/** Counts responses and their durations by method, route and status, for `/metrics`. */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>()

  /** Counts the responses of a listener from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      this.add(request.method, request.routeOptions.url ?? 'unknown', reply.statusCode, reply.elapsedTime)
      done()
    })
  }

  /** Counts one response. */
  add(method: string, route: string, status: number, milliseconds: number): void {
    addTo(this.#of(method, route, status), milliseconds)
  }

  /** Counts responses of one route without a look-up for each success; the route appears from the first response on. */
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
