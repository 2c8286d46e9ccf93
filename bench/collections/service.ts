// Requests of the benchmark of histories to a running service.
import type { Queryable } from '#db/schema.ts'

/** A running service, and an account with the plan Plus that may create listings. */
export interface Service {
  publicUrl: string
  key: string
  operatorUrl: string
  operatorToken: string
  accountId: number
  db: Queryable
}

/** `data` is undefined if the request was refused. */
interface Reply<T> {
  status: number
  data: T
}

/** @throws Error for answers of 500 and above */
async function request<T>(url: string, credential: string, method: string, json?: unknown, body?: string): Promise<Reply<T>> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${credential}`, ...(json !== undefined && { 'content-type': 'application/json' }) },
    body: json === undefined ? body : JSON.stringify(json),
  })
  const text = await response.text()
  if (response.status >= 500) throw new Error(`${method} ${url} answered ${response.status}: ${text}`)
  return { status: response.status, data: (JSON.parse(text) as { data: T }).data }
}

/** A request to the account's collections. */
export const mine = <T>(service: Service, method: string, path: string, json?: unknown) =>
  request<T>(`${service.publicUrl}/api/v1/plus/collections${path}`, service.key, method, json)
export const operator = <T>(service: Service, method: string, path: string, json?: unknown, body?: string) =>
  request<T>(`${service.operatorUrl}/operator/v1${path}`, service.operatorToken, method, json, body)

/** All rows of a list of the operator API. */
export async function allPages<T>(service: Service, path: string): Promise<T[]> {
  const rows: T[] = []
  for (let page = 1; ; page += 1) {
    const { data } = await operator<T[]>(service, 'GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`)
    rows.push(...data)
    if (data.length < 100) return rows
  }
}
