// The console's service: the operator API, by the types of its document, and who is signed in.
import { apiAddress, connect, offline, ownHeaders, postToPages, type Reply, readReply } from '#ui/api.ts'
import { clientOf } from '#ui/client.ts'
import { nameMarkets } from '#ui/words.ts'
import type { OperatorNeed } from '../../src/core/roles.ts'
import type { paths, Person, SourceTrust } from './api-types.ts'

export interface OperatorApi {
  paths: paths
  prefix: '/operator/v1'
  parameters: { market: SourceTrust['market'] }
}

export const { request, useData, useWrite, writeNow, List } = clientOf<OperatorApi>({ csv: true })

export interface SignedInPerson {
  id: number
  roles: Person['roles']
  /** two-factor sign-in is to be set up before anything else */
  unfinished: boolean
}

interface Session {
  operator: string
  /** null for a shared token, which may do everything */
  person: SignedInPerson | null
  /** what the roles of who is signed in allow */
  may: OperatorNeed[]
  /** a new service still lacks something */
  first_steps: boolean
  /** it has no catalogue yet */
  is_empty: boolean
  /** currency of each price source */
  currencies: Record<string, string>
  /** what the operator calls the markets, by code; not all have a name */
  market_names: Record<string, string>
}

export const sessions = connect<Session>({
  app: 'console',
  api: '/operator/v1',
  credential: 'token',
  who: 'operator',
  onLoad: ({ market_names: names }) => nameMarkets(names),
})

export type Need = OperatorNeed

/** Whether who is signed in may do what needs this. */
export function isAllowed(need: Need): boolean {
  return sessions.session.value?.may.includes(need) ?? false
}

/** Changes what the person signs in with; only a session may. @throws ApiError */
export function postToOwnAccount<T>(path: '/password' | '/two-factor' | '/two-factor/confirm', json: object): Promise<Reply<T>> {
  return postToPages(`/console${path}`, json)
}

export interface Upload {
  format: string
  market: string
  dryRun: boolean
  /** of a list that is read by a mapping: its parameters */
  mapping?: Record<string, string>
  file: File
  /** share of the file that is sent, 0 to 1 */
  onProgress: (share: number) => void
}

/** Sends a file to import; fetch cannot tell how far it is, so that this is the older way. @throws ApiError */
export function upload({ format, market, dryRun, mapping, file, onProgress }: Upload): Promise<{ id: number }> {
  const query = { file_name: file.name, dry_run: dryRun ? 1 : undefined, market: market || undefined, ...mapping }
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest()
    sending.open('POST', apiAddress(`/imports/${format}`, query))
    for (const [name, value] of Object.entries(ownHeaders())) sending.setRequestHeader(name, value)
    sending.setRequestHeader('content-type', 'application/octet-stream')
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    sending.onerror = () => reject(offline())
    sending.onload = () => {
      try {
        resolve(readReply<{ id: number }>(sending.status, sending.responseText).data)
      } catch (error) {
        reject(error as Error)
      }
    }
    sending.send(file)
  })
}
