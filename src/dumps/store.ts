// Where dumps are kept: what a store does, and how its entries are named.
import type { Readable } from 'node:stream'
import type { Reason } from '#core/problems.ts'
import type { Dump } from './types.ts'

/** A file of a dump as it is sent. */
export interface StoredDumpFile {
  bytes: number
  body: Readable
}

/** Why a store cannot be used now, for an operator. */
export interface StoreProblem {
  why: Reason
  /** whether the store answers and refuses: only other settings help */
  refused: boolean
}

/** Its methods throw UNAVAILABLE where the store cannot be used now; the reason is in the log. */
export interface DumpStore {
  /** folder or address, for operators */
  readonly place: string
  /** the newest dump, null before the first */
  latest(): Promise<Dump | null>
  /** null where no dump that is kept has a file of this name */
  open(name: string): Promise<StoredDumpFile | null>
  /** the folder in which the files of a dump are written before it is published */
  stage(stamp: string): string
  /** Makes what is staged the newest dump; older ones but the last are removed. */
  publish(stamp: string, dump: Dump): Promise<void>
  /** Asks the store; null where it can be used. */
  problem(): Promise<StoreProblem | null>
}

/** Dumps that stay: who is downloading one when the next is made can end. */
export const KEPT_DUMPS = 2
export const MANIFEST = 'manifest.json'

const STAMP = /^\d{8}T\d{9}Z$/
const FILE = /^[a-z]+(?:-[a-z]+)*(?:-\d{4}-\d{2})?-(\d{8}T\d{9}Z)\.(?:ndjson\.gz|parquet)$/

/** Whether a name is that of a dump: its moment. */
export function isStamp(name: string): boolean {
  return STAMP.test(name)
}

/** The name of the dump that a file belongs to, null where it is not the name of a dump's file. */
export function stampOf(file: string): string | null {
  return FILE.exec(file)?.[1] ?? null
}
