// Reading and writing from components: answers that follow their address, and writes that cannot happen twice.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../client/src/api.ts'
import { ApiError, newKey, type Query, readFile, type Reply, request, type Sending } from './api.ts'
import type { Method } from './operations.ts'
import { announce } from './toasts.tsx'
import { sentence } from './words.ts'

export interface Loaded<T> {
  /** of the last answer, also while the next is awaited */
  data: T | null
  pagination: Pagination | null
  error: ApiError | null
  loading: boolean
  reload: () => void
}

export interface DataOptions<Data, Asked = Query> {
  query?: Asked
  /** milliseconds until the same is asked again, null for never; told by the last answer */
  again?: (data: Data) => number | null
  /** another number asks again */
  version?: number
}

/** A number for `version`, and what makes it another. */
export function useVersion(): [number, () => void] {
  const [version, setVersion] = useState(0)
  return [version, () => setVersion((n) => n + 1)]
}

/** The answer to a GET; null asks nothing. */
export function useData(path: string | null, { query, again, version }: DataOptions<unknown> = {}): Loaded<unknown> {
  const [state, setState] = useState<Omit<Loaded<unknown>, 'reload'>>({ data: null, pagination: null, error: null, loading: path !== null })
  const [round, setRound] = useState(0)
  const asked = useRef('')
  const address = JSON.stringify([path, query])
  const reload = useCallback(() => setRound((n) => n + 1), [])
  // The address stands for path and query; `round` and `version` ask the same again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (path === null) return setState({ data: null, pagination: null, error: null, loading: false })
    const cancel = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const samePath = asked.current === path
    asked.current = path
    setState((old) => ({ ...(samePath ? old : { data: null, pagination: null }), error: null, loading: true }))
    request('GET', path, { query, signal: cancel.signal }).then(
      ({ data, pagination = null }) => {
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
  }, [address, round, version])
  return { ...state, reload }
}

type Write = (method: Method, path: string, json?: unknown, ifMatch?: string) => Promise<Reply<unknown> | null>

export interface Writing<Writer = Write> {
  busy: boolean
  error: ApiError | null
  /** resolves with the answer, or null when it failed; the failure is in `error` */
  write: Writer
  clear: () => void
}

/** Writes with an idempotency key that stays the same until the request succeeds or changes. */
export function useWrite(): Writing {
  const { send, ...rest } = useSending()
  const write: Write = (method, path, json, ifMatch) => send([method, path, JSON.stringify(json), ifMatch], { json, ifMatch })
  return { ...rest, write }
}

type Upload = (path: string, csv: Blob, query?: Query) => Promise<Reply<unknown> | null>

/** As `useWrite`, of a POST whose body is a CSV file. */
export function useUpload(): Writing<Upload> {
  const { send, ...rest } = useSending()
  const write: Upload = (path, csv, query) => send(['POST', path, csv, JSON.stringify(query)], { csv, query })
  return { ...rest, write }
}

type Asked = [method: Method, path: string, ...rest: unknown[]]

function useSending() {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null })
  const last = useRef<{ asked: Asked; key: string } | null>(null)
  const send = async (asked: Asked, sending: Sending<unknown>): Promise<Reply<unknown> | null> => {
    const isSame = last.current?.asked.every((part, index) => part === asked[index]) ?? false
    if (!isSame) last.current = { asked, key: newKey() }
    setState({ busy: true, error: null })
    try {
      const [method, path] = asked
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

/** A write without a form of its own: its failure is announced. */
export async function writeNow(method: Method, path: string, json?: unknown): Promise<Reply<unknown> | null> {
  try {
    return await request(method, path, { json, ...(method === 'POST' && { idempotencyKey: newKey() }) })
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
    return null
  }
}

/**
 * Hands a file of the API to the browser to be saved; a refusal is announced.
 * @param query of a list: it is marked for spreadsheets, which take a CSV without the mark for one in their own character set
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
    // The browser has taken the file over by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
  }
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, { code: 'UNEXPECTED', message: String(error) })
}
