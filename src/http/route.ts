// Declaration of a route: method, path, verb and reference texts; everything else is derived from the verb.
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ErrorCode } from '#core/errors.ts'
import { type Static, type TSchema, Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { HasViewer, Verb } from '#core/verb.ts'
import type { Answer } from './envelope.ts'
import type { Headers, Shown } from './response.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The serialised envelope, and the version for its `ETag`. */
export interface ReadyAnswer {
  tag: string
  bytes: () => Buffer
  /** whether it would be the same now; without it, every change of the source counts */
  isCurrent?: () => boolean
  /** the records that it shows, if showing them is counted */
  shown?: Shown
  /** what was searched for, if searches are counted */
  term?: string | undefined
}

/** A response other than JSON, such as a file. */
export interface FileAnswer {
  headers: Headers
  body: Readable | Buffer
}

/** Error codes that are not derived from the route's verb: see `verbErrors`. */
export type OwnErrorCode = Exclude<ErrorCode, 'READ_ONLY_KEY' | 'VALIDATION_ERROR' | 'PLUS_LISTING_ERROR' | 'PLUS_COLLECTION_ERROR'>

/** A stored file, which can be sent in parts. */
export interface StoredFileAnswer {
  headers: Headers
  file: {
    /** identifies the content */
    tag: string
    bytes: number
    /** opens the bytes [from, to) */
    read: (from: number, to: number) => Promise<Readable>
  }
}

export interface Route<Ctx extends HasViewer> {
  method: Method
  /** with parameters as `:id`; they are integers of the verb's input unless the input declares another type */
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: a list of routes holds verbs of all inputs and results
  verb: Verb<Ctx, any, any>
  /** converts the result to the response */
  answer: (result: never) => Answer | ReadyAnswer | FileAnswer | StoredFileAnswer
  /** the result if the caller prefers `text/csv` to JSON in its `Accept` header */
  csv?: (result: never) => FileAnswer
  /** field of a list's rows whose entries become rows of the CSV, each with the other fields of its row */
  csvEntries?: string
  /** whether a POST changes nothing: its input is too long for a query string */
  reads?: boolean
  /** for reads shared by plan: the bytes take no longer to build than to find in the cache */
  cheap?: boolean
  /** one line, or more if it needs explanation */
  summary: string
  description?: string
  /** a former path that still works; the reference says so */
  deprecated?: boolean
  tag: string
  /** success status; 200 unless set */
  status?: number
  /** input field for a whole body that is not an object of fields (an array, a file); other bodies are text */
  bodyField?: string
  /** input fields of a write that are read from the query; the body may contain them instead */
  queryFields?: readonly string[]
  bodyLimit?: number
  /** body types other than JSON, by content type, each with a function that reads it into fields */
  bodies?: Readonly<Record<string, (body: Buffer, ctx: Ctx) => Promise<object>>>
  /** content types of the body that `scope` reads, for the reference; by default a file of any type */
  bodyTypes?: readonly string[]
  /** prepares a scope of the route's own, such as one that reads other bodies than JSON */
  scope?: (inner: FastifyInstance) => void
  /** content types of the response if it is a file, for the reference; `resumable`: it answers `Range` and `If-None-Match` */
  files?: { types: readonly string[]; resumable?: boolean }
  /** schema of `data`, for the reference */
  data?: TSchema
  paged?: boolean
  /** schemas of further members of the envelope, for the reference */
  extra?: Record<string, TSchema>
  /** error codes in addition to those of every route and of the verb; PRECONDITION_FAILED: the write supports `If-Match`, which others reject */
  errors?: readonly OwnErrorCode[]
}

/** The fields of a route that returns a list page by page: verb, answer and schema. */
export function paged<Ctx extends HasViewer, Row extends TSchema>(
  verb: Verb<Ctx, TSchema, Promise<Page<Static<Row>>>>,
  row: Row,
): Pick<Route<Ctx>, 'method' | 'verb' | 'answer' | 'data' | 'paged'> {
  const answer = ({ rows, pagination }: Page<Static<Row>>) => ({ data: rows, pagination })
  return { method: 'GET', verb, answer, data: Type.Array(row), paged: true }
}
