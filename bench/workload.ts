// A workload: compared with bare node:http and a baseline server, or measured in its own way.
import type { Comparison, Traffic } from './compare.ts'
import { compare } from './compare.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'

export interface Workload {
  /** as in the list of goals; letters mark variants */
  id: string
  title: string
  /** goal for the share of bare node:http; null if there is none, or if the workload's own table states its goals */
  goal: number | null
  /** data of the measured node: items, or listings in addition; `own` if it is measured on its own data */
  data: 'items' | 'listings' | 'own'
  /**
   * Prepares everything and returns a function that measures once.
   * @throws Error if a response is wrong
   */
  prepare: (stage: Stage) => Promise<() => Promise<Measured>>
}

/** Figures as stored in the results, and the table that shows them. */
export interface OwnFigures {
  table: Table
  figures: unknown
}

export type Measured = Comparison | OwnFigures

export interface HttpWorkload extends Workload {
  traffic: (stage: Stage) => Promise<Traffic>
}

/** A workload of requests that is measured on the other servers, too. */
export function httpWorkload(workload: Omit<HttpWorkload, 'prepare'>): HttpWorkload {
  const prepare = async (stage: Stage) => {
    const traffic = await workload.traffic(stage)
    return () => compare(stage, workload, traffic)
  }
  return { ...workload, prepare }
}
