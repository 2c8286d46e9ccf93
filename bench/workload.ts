// What a workload is: measured beside bare node:http and a baseline server, or in a way of its own.
import type { Comparison, Traffic } from './compare.ts'
import { compare } from './compare.ts'
import type { Stage } from './stage.ts'
import type { Table } from './tables.ts'

export interface Workload {
  /** as in the list of goals; a letter tells variants apart */
  id: string
  title: string
  /** share of bare node:http that is wanted; null where none is, or where the workload's own table states its goals */
  goal: number | null
  /** what the node under load holds: items, listings over them besides; `own`: it is measured on data of its own */
  data: 'items' | 'listings' | 'own'
  /**
   * Makes everything ready; what it returns measures, once.
   * @throws Error when an answer is not right
   */
  prepare: (stage: Stage) => Promise<() => Promise<Measured>>
}

/** Figures as they stand in the results, and the table that shows them. */
export interface OwnFigures {
  table: Table
  figures: unknown
}

export type Measured = Comparison | OwnFigures

export interface HttpWorkload extends Workload {
  traffic: (stage: Stage) => Promise<Traffic>
}

/** A workload of requests that is measured beside the other servers. */
export function httpWorkload(workload: Omit<HttpWorkload, 'prepare'>): HttpWorkload {
  const prepare = async (stage: Stage) => {
    const traffic = await workload.traffic(stage)
    return () => compare(stage, workload, traffic)
  }
  return { ...workload, prepare }
}
