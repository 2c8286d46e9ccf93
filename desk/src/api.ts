// The desk's connection to the public API: typed by its document, with the signed-in account.
import { connect } from '#ui/api.ts'
import { clientOf } from '#ui/client.ts'
import { timeZone } from '#ui/time-zone.ts'
import { nameMarkets } from '#ui/words.ts'
import type { Me, paths } from '../../client/src/api.ts'

interface PublicApi {
  paths: paths
  prefix: '/api/v1'
  parameters: { name: string }
}

export const { request, useData, useWrite, useUpload, writeNow, List } = clientOf<PublicApi>()

/** The signed-in account and its key; the key itself stays with the service. */
export interface Session {
  account: Me['account']
  key: Me['key']
  /** currency of each price source */
  currencies: Record<string, string>
  /** the operator's names of the markets, by code; not all have one */
  market_names: Record<string, string>
  /** IANA zone of the times on the pages, as in statements */
  time_zone: string
}

export const sessions = connect<Session>({
  app: 'desk',
  api: '/api/v1',
  credential: 'key',
  who: 'account',
  onLoad: ({ market_names: names, time_zone: zone }) => {
    nameMarkets(names)
    timeZone.value = zone
  },
})

/** Whether the key may change anything; the service rejects writes otherwise. */
export function mayWrite(): boolean {
  return sessions.session.value?.key.read_only === false
}
