// Hooks for reading and writing: responses that follow their address, and writes that cannot happen twice.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../client/src/api.ts'
import { ApiError, newKey, type Query, readFile, type Reply, request, type Sending } from './api.ts'
import type { Method } from './operations.ts'
import { announce } from './toasts.tsx'
import { sentence } from './words.ts'

export interface Loaded<T> {
  /** of the latest response, also while the next one loads */
  data: T | null
  pagination: Pagination | null
  error: ApiError | null
  loading: boolean
  reload: () => void
}

export interface DataOptions<Data, Asked = Query> {
  query?: Asked
  /** milliseconds until the next poll, computed from the latest response; null for none */
  again?: (data: Data) => number | null
  /** a new value reloads the data */
  version?: number | string
  /** while true, no request is sent, and the response to an earlier one is ignored */
  paused?: boolean
}

/** A number for `version`, and a function that changes it. */
export function useVersion(): [number, () => void] {
  const [version, setVersion] = useState(0)
  return [version, () => setVersion((n) => n + 1)]
}

/** The response to a GET; null sends no request. */
export function useData(path: string | null, { query, again, version, paused = false }: DataOptions<unknown> = {}): Loaded<unknown> {
  const [state, setState] = useState<Omit<Loaded<unknown>, 'reload'>>({ data: null, pagination: null, error: null, loading: path !== null })
  const [round, setRound] = useState(0)
  const lastPath = useRef('')
  const address = JSON.stringify([path, query])
  const reload = useCallback(() => setRound((n) => n + 1), [])
  // `address` represents path and query; `round` and `version` repeat the request.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (path === null) return setState({ data: null, pagination: null, error: null, loading: false })
    const cancel = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const samePath = lastPath.current === path
    lastPath.current = path
    setState((old) => ({ ...(samePath ? old : { data: null, pagination: null }), error: null, loading: true }))
    if (paused) return
    request('GET', path, { query, signal: cancel.signal }).then(
      ({ data, pagination = null }) => {
        if (cancel.signal.aborted) return
        setState({ data, pagination, error: null, loading: false })
        const delay = again?.(data) ?? null
        if (delay !== null) timer = setTimeout(reload, delay)
      },
      (error: unknown) => {
        if (cancel.signal.aborted) return
        setState((old) => ({ ...old, error: asApiError(error), loading: false }))
      },
    )
    return () => {
      cancel.abort()
      clearTimeout(timer)
    }
  }, [address, round, version, paused])
  return { ...state, reload }
}

type Write = (method: Method, path: string, json?: unknown, ifMatch?: string) => Promise<Reply<unknown> | null>

export interface Writing<Writer = Write> {
  busy: boolean
  error: ApiError | null
  /** resolves with the response, or with null after a failure; the failure is in `error` */
  write: Writer
  clear: () => void
}

/** Sends writes with an idempotency key that stays the same until the request succeeds or changes. */
export function useWrite(): Writing {
  const { send, ...rest } = useSending()
  const write: Write = (method, path, json, ifMatch) => send([method, path, JSON.stringify(json), ifMatch], { json, ifMatch })
  return { ...rest, write }
}

type Upload = (path: string, csv: Blob, query?: Query) => Promise<Reply<unknown> | null>

/** As `useWrite`, for a POST whose body is a CSV file. */
export function useUpload(): Writing<Upload> {
  const { send, ...rest } = useSending()
  const write: Upload = (path, csv, query) => send(['POST', path, csv, JSON.stringify(query)], { csv, query })
  return { ...rest, write }
}

type WriteRequest = [method: Method, path: string, ...rest: unknown[]]

function useSending() {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null })
  const last = useRef<{ writeRequest: WriteRequest; key: string } | null>(null)
  const send = async (writeRequest: WriteRequest, sending: Sending<unknown>): Promise<Reply<unknown> | null> => {
    const isSame = last.current?.writeRequest.every((part, index) => part === writeRequest[index]) ?? false
    if (!isSame) last.current = { writeRequest, key: newKey() }
    setState({ busy: true, error: null })
    try {
      const [method, path] = writeRequest
      const reply = await request(method, path, { ...sending, ...(method === 'POST' && { idempotencyKey: last.current!.key }) })
      last.current = null
      setState({ busy: false, error: null })
      return reply
    } catch (error) {
      setState({ busy: false, error: asApiError(error) })
      return null
    }
  }
  return { ...state, send, clear: () => setState({ busy: false, error: null }) }
}

/** A write without a form: failures are announced as toasts. */
export async function writeNow(method: Method, path: string, json?: unknown): Promise<Reply<unknown> | null> {
  try {
    return await request(method, path, { json, ...(method === 'POST' && { idempotencyKey: newKey() }) })
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
    return null
  }
}

/**
 * Downloads a file of the API; failures are announced as toasts.
 * @param query of a list: the CSV gets a byte order mark, because spreadsheets would otherwise assume a local character set
 */
export async function saveFile(path: string, name: string, headers?: Record<string, string>, query?: Query): Promise<void> {
  try {
    const file = await readFile(path, headers, query)
    const marked = query ? new Blob(['\uFEFF', file], { type: file.type }) : file
    const url = URL.createObjectURL(marked)
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    // By then, the browser has started the download.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
  }
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, { code: 'UNEXPECTED', message: String(error) })
}
