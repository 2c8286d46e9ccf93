// Overview of an account: its data, sales compared to the previous period, and the latest notifications.
import { Facts, Status } from '#ui/states.tsx'
import { useData } from '../api.ts'
import { Activity } from '../ui/activity.tsx'
import { AttemptState } from '../ui/attempt-state.tsx'
import { ago, count, t } from '../words.ts'

const LATEST = 5
const MAX_COLLECTIONS = 100

export function AccountOverview({ accountId }: { accountId: number }) {
  const of = `/console/accounts/${accountId}?view=`
  const listings = useData('/listings', { query: { seller_id: accountId, per_page: 1 } }).pagination
  const active = useData('/listings', { query: { seller_id: accountId, status: 'active', per_page: 1 } }).pagination
  const collections = useData('/collections', { query: { account_id: accountId, per_page: MAX_COLLECTIONS } })
  const keys = useData(`/accounts/${accountId}/keys`, { query: { state: 'valid', per_page: 1 } })
  const webhook = useData(`/accounts/${accountId}/webhook`).data
  const records = collections.data?.reduce((sum, { items_count: items }) => sum + items, 0) ?? 0
  return (
    <>
      <Facts
        rows={[
          [
            t('listings'),
            listings && active && (
              <a key="listings" href={`/console/listings?seller_id=${accountId}`}>
                {t('listingsActiveOf', { active: count(active.total), total: count(listings.total) })}
              </a>
            ),
          ],
          [
            t('collections'),
            collections.pagination && (
              <a key="collections" href={`${of}collections`}>
                {t('recordsOf', { records: count(records), collections: count(collections.pagination.total) })}
              </a>
            ),
          ],
          [
            t('validKeys'),
            keys.pagination && (
              <a key="keys" href={`${of}keys`}>
                {count(keys.pagination.total)}
              </a>
            ),
          ],
          [
            t('webhook'),
            webhook && (
              <a key="webhook" href={`${of}webhook`}>
                <Status code={webhook.is_active ? (webhook.failing ? 'failed' : 'on') : 'paused'} />
              </a>
            ),
          ],
          [
            t('orders'),
            <a key="orders" href={`/console/orders?seller_id=${accountId}`}>
              {t('show')}
            </a>,
          ],
        ]}
      />
      <Activity accountId={accountId} />
      {webhook && <Latest accountId={accountId} />}
    </>
  )
}

/** The latest delivery attempts with their responses. */
function Latest({ accountId }: { accountId: number }) {
  const attempts = useData(`/accounts/${accountId}/webhook/attempts`, { query: { per_page: LATEST } }).data
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">{t('latestDeliveries')}</h2>
      {attempts?.length === 0 && <p class="quiet">{t('noEvents')}</p>}
      <ul class="answers">
        {attempts?.map((attempt) => (
          <li key={attempt.id}>
            <AttemptState of={attempt} /> <span class="quiet">{`#${attempt.event_id} · ${ago(attempt.started_at)}`}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
