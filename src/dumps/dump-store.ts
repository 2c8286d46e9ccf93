// The interface of dump stores, and the names of their entries.
import type { Readable } from 'node:stream'
import type { Reason } from '#core/problems.ts'
import type { Dump } from './dump-types.ts'

/** A file of a dump, ready to be sent. */
export interface StoredDumpFile {
  bytes: number
  /** opens the bytes [from, to) */
  read: (from: number, to: number) => Promise<Readable>
}

/** Why a store is currently unavailable, for operators. */
export interface StoreProblem {
  why: Reason
  /** whether the store responds but rejects requests: the settings must be changed */
  refused: boolean
}

/** The methods throw UNAVAILABLE if the store is unavailable; the reason is logged. */
export interface DumpStore {
  /** folder or address, for operators */
  readonly place: string
  /** the newest dump; null before the first */
  latest(): Promise<Dump | null>
  /** null if no available dump has a file with this name */
  open(name: string): Promise<StoredDumpFile | null>
  /** the folder in which a dump's files are written before it is published */
  stage(stamp: string): string
  /** Publishes the staged files as the newest dump, and deletes all but the newest dumps. */
  publish(stamp: string, dump: Dump): Promise<void>
  /** Checks the store; null if it is available. */
  problem(): Promise<StoreProblem | null>
}

/** Number of dumps to keep: a download can finish after the next dump is published. */
export const RETAINED_DUMPS = 2
export const MANIFEST = 'manifest.json'

const STAMP = /^\d{8}T\d{9}Z$/
const FILE = /^[a-z]+(?:-[a-z]+)*(?:-\d{4}-\d{2})?-(\d{8}T\d{9}Z)\.(?:ndjson\.gz|parquet)$/

/** Whether a name is that of a dump: its time. */
export function isStamp(name: string): boolean {
  return STAMP.test(name)
}

/** The name of the dump that a file belongs to; null if it is not the name of a dump file. */
export function stampOf(file: string): string | null {
  return FILE.exec(file)?.[1] ?? null
}
