// The console's connection to the operator API: typed by its document, with the signed-in person.
import { signal } from '@preact/signals'
import { apiAddress, connect, offline, ownHeaders, postToPages, type Reply, readReply } from '#ui/api.ts'
import { clientOf } from '#ui/client.ts'
import { nameMarkets } from '#ui/words.ts'
import type { OperatorNeed } from '../../src/core/roles.ts'
import type { paths, Person, PriceSource } from './api-types.ts'

export interface OperatorApi {
  paths: paths
  prefix: '/operator/v1'
  parameters: { market: PriceSource['market']; name: string; game: string }
}

export const { request, useData, useUpload, useWrite, writeNow, List } = clientOf<OperatorApi>({ csv: true })

export interface SignedInPerson {
  id: number
  roles: Person['roles']
  /** whether two-factor sign-in must be set up before anything else */
  unfinished: boolean
}

interface Session {
  operator: string
  /** name of the identity provider with which people can sign in; null for none */
  provider: string | null
  /** null for a shared token, which may do everything */
  person: SignedInPerson | null
  /** what the roles of the signed-in person allow */
  may: OperatorNeed[]
  /** whether a new service still lacks something */
  first_steps: boolean
  /** whether it has no catalogue yet */
  is_empty: boolean
  /** currency of each price source */
  currencies: Record<string, string>
  /** the operator's names of the markets, by code; not all have one */
  market_names: Record<string, string>
}

/** The identity provider of this service, signed in or not. */
export const provider = signal<string | null>(null)

export const sessions = connect<Session>({
  app: 'console',
  api: '/operator/v1',
  credential: 'token',
  who: 'operator',
  onAnswer: ({ provider: name = null }) => (provider.value = name),
  onLoad: ({ market_names: names }) => nameMarkets(names),
})

export type Need = OperatorNeed

/** Whether the signed-in person has this permission. */
export function isAllowed(need: Need): boolean {
  return sessions.session.value?.may.includes(need) ?? false
}

/** Changes the person's own credentials; requires a session. @throws ApiError */
export function postToOwnAccount<T>(path: '/password' | '/two-factor' | '/two-factor/confirm', json: object): Promise<Reply<T>> {
  return postToPages(`/console${path}`, json)
}

export interface Upload {
  format: string
  market: string
  dryRun: boolean
  /** imports prices that are off as a whole */
  acceptDrift: boolean
  /** for a list that is read by a mapping: its parameters */
  mapping?: Record<string, string>
  file: File
  /** share of the file that has been sent, 0 to 1 */
  onProgress: (share: number) => void
}

/** Sends a file to import, by XMLHttpRequest because fetch does not report the progress of an upload. @throws ApiError */
export function upload({ format, market, dryRun, acceptDrift, mapping, file, onProgress }: Upload): Promise<{ id: number }> {
  const query = {
    file_name: file.name,
    dry_run: dryRun ? 1 : undefined,
    accept_drift: acceptDrift ? 1 : undefined,
    market: market || undefined,
    ...mapping,
  }
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
