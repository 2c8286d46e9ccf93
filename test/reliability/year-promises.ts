// What the documentation promises about time, each checked just before and at its moment, on a node that runs through a year.
import { expect } from 'vitest'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import { localDay, localTime } from '#core/time.ts'
import { call } from '#core/verb.ts'
import { tellFindings } from '#notifications/tell.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { orderId, pending } from '../market/kit.ts'
import { send } from '../support/node.ts'
import { after, DAY_MS, HOUR_MS, local, manyListings, MINUTE_MS, type Seller, type TimePromise, type Year } from './year-kit.ts'

const iso = (at: Date) => at.toISOString()

async function statusOf({ operator }: Year, id: number): Promise<string> {
  return (await operator<{ status: string }>('GET', `/listings/${id}`)).body.data.status
}

/** Whether somebody else finds a listing. */
async function isFound({ node }: Year, seller: Seller, id: number): Promise<boolean> {
  const { body } = await send<{ id: number }[]>(`${node.publicUrl}/api/v1/plus/listings?item_id=${seller.item}`, node.keys.enterprise)
  return body.data.some((listing) => listing.id === id)
}

async function eventsOf<T = Record<string, unknown>>({ plus }: Year, seller: Seller, kind: string): Promise<T[]> {
  const { body } = await plus<{ event: string; data: T }[]>(seller, 'GET', '/events?limit=1000')
  return body.data.filter(({ event }) => event === kind).map(({ data }) => data)
}

async function order({ operator, now }: Year, listing: number, fields: object = {}) {
  const body = { order_id: orderId(), sold_at: iso(now()), lines: [{ listing_id: listing, quantity: 1 }], ...fields }
  return { id: body.order_id, reply: await operator('POST', '/orders', body) }
}

/** A listing ends at its moment: found until a millisecond before it, one event then, none later. */
async function endsAt(year: Year, seller: Seller, id: number, end: Date) {
  year.at(after(end, -1), async () => expect([await statusOf(year, id), await isFound(year, seller, id)]).toEqual(['active', true]))
  year.at(end, async () => {
    expect([await statusOf(year, id), await isFound(year, seller, id)]).toEqual(['expired', false])
    const told = (await eventsOf<{ listing_id: number; expired_at: string }>(year, seller, 'expire')).filter((one) => one.listing_id === id)
    expect(told.map((one) => one.expired_at)).toEqual([localTime(end, year.zone)])
  })
}

export const PROMISES: TimePromise[] = [
  {
    name: 'a publication period lasts 30 days and ends with one event',
    plan: async (year) => {
      const starts = ['2027-03-15T12:00', '2027-10-20T03:30', '2028-01-30T12:00', '2028-02-29T00:00'].map((text) => local(text, year.zone))
      for (const from of starts) {
        year.at(from, async () => {
          const seller = await year.seller()
          const { id, expires_at: end } = await year.listed(seller)
          expect(end).toBe(iso(after(from, 30 * DAY_MS)))
          if (after(from, 31 * DAY_MS) < after(year.start, 395 * DAY_MS)) await endsAt(year, seller, id, after(from, 30 * DAY_MS))
        })
      }
    },
  },
  {
    name: 'renewed listings never end; a thousand that are no longer renewed end with one event each',
    plan: async (year) => {
      const seller = await year.seller()
      const ids = await manyListings(year, seller, 1_000)
      const last = after(year.start, 330 * DAY_MS)
      for (let at = after(year.start, 7 * DAY_MS); at < last; at = after(at, 5 * DAY_MS)) {
        year.at(at, async () => {
          const { body } = await year.plus<{ refused: unknown }[]>(seller, 'POST', '/listings/renew', { ending_within_days: 7 })
          expect(body.data.filter(({ refused }) => refused !== null)).toEqual([])
        })
      }
      year.at(last, async () => expect(await eventsOf(year, seller, 'expire')).toEqual([]))
      year.at(after(last, 30 * DAY_MS), async () => {
        const told = await year.node.db.kysely.selectFrom('webhook_events').select('body').where('account_id', '=', seller.id).execute()
        const named = told.map(({ body }) => (JSON.parse(body) as { data: { listing_id: number } }).data.listing_id)
        expect(named.toSorted((a, b) => a - b)).toEqual(ids)
        expect(await statusOf(year, ids[0]!)).toBe('expired')
      })
    },
  },
  {
    name: 'a highlight lasts 7 days, and a second one is added to it',
    plan: async (year) => {
      const from = local('2027-03-25T10:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller(2)
        const { id } = await year.listed(seller)
        const untilOf = async () => (await year.operator<{ highlighted_until: string | null }>('GET', `/listings/${id}`)).body.data.highlighted_until
        await year.plus(seller, 'POST', '/make-highlight', { id })
        expect(await untilOf()).toBe(iso(after(from, 7 * DAY_MS)))
        await year.plus(seller, 'POST', '/make-highlight', { id })
        expect(await untilOf()).toBe(iso(after(from, 14 * DAY_MS)))
        // Of the same item, the newer one is first, unless the other one is highlighted.
        const newer = (await year.listed({ ...(await year.seller()), item: seller.item })).id
        const first = async () => {
          const url = `${year.node.publicUrl}/api/v1/plus/listings?sort_by=popular&item_id=${seller.item}`
          return (await send<{ id: number }[]>(url, year.node.keys.enterprise)).body.data[0]!.id
        }
        year.at(after(from, 14 * DAY_MS - 1), async () => expect(await first()).toBe(id))
        year.at(after(from, 14 * DAY_MS), async () => expect(await first()).toBe(newer))
      })
    },
  },
  {
    name: 'a vacation hides listings from exactly its start to its end, at most 90 days, and moves their ends',
    plan: async (year) => {
      const from = local('2027-12-20T09:00', year.zone)
      const [begins, ends] = [after(from, 5 * DAY_MS), after(from, 15 * DAY_MS)]
      year.at(from, async () => {
        const seller = await year.seller(1)
        const { id } = await year.listed(seller)
        const put = async (begin: Date, end: Date) => (await year.plus(seller, 'PUT', '/vacation', { from: iso(begin), to: iso(end) })).status
        expect(await put(begins, after(begins, 90 * DAY_MS + 1_000))).toBe(422)
        expect(await put(begins, after(begins, 90 * DAY_MS))).toBe(200)
        expect(await put(after(from, 367 * DAY_MS), after(from, 368 * DAY_MS))).toBe(422)
        expect(await put(after(from, -5 * MINUTE_MS - 1_000), ends)).toBe(422)
        expect(await put(begins, ends)).toBe(200)
        year.at(after(begins, -1), async () => expect(await isFound(year, seller, id)).toBe(true))
        year.at(begins, async () => {
          expect(await isFound(year, seller, id)).toBe(false)
          expect((await order(year, id)).reply.status).toBe(409)
        })
        year.at(after(ends, -1), async () => expect(await isFound(year, seller, id)).toBe(false))
        year.at(ends, async () => expect(await isFound(year, seller, id)).toBe(true))
        await endsAt(year, seller, id, after(from, 40 * DAY_MS))
      })
    },
  },
  {
    name: 'an enabled repricing rule runs every hour, also when the clocks change',
    plan: async (year) => {
      for (const day of ['2027-03-27T12:00', '2027-10-30T12:00']) {
        const from = local(day, year.zone)
        year.at(from, async () => {
          const seller = await year.seller()
          await year.listed(seller)
          const terms = {
            name: 'Undercut',
            target: { kind: 'cheapest', amount: -1 },
            scope: { kind: 'all' },
            floor: { price: 50 },
            max_move_percent: null,
            min_comparables: 1,
          }
          const { body } = await year.plus<{ id: number }>(seller, 'POST', '/repricing-rules', terms)
          const path = `/repricing-rules/${body.data.id}`
          expect((await year.plus(seller, 'POST', `${path}/simulate`, {})).status).toBe(200)
          expect((await year.plus(seller, 'PATCH', path, { enabled: true })).status).toBe(200)
          year.at(after(from, 30 * HOUR_MS), async () => {
            const runs = (year.ran.get('repricing') ?? []).filter((ms) => ms >= from.getTime())
            const gaps = runs.map((ms, i) => ms - (runs[i - 1] ?? ms)).slice(1)
            expect([new Set(gaps), runs.length >= 30]).toEqual([new Set([HOUR_MS]), true])
            await year.plus(seller, 'DELETE', path)
          })
        })
      }
    },
  },
  {
    name: 'a repeated request gets the first response for 24 hours',
    plan: async (year) => {
      const from = local('2028-02-28T15:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller(3)
        const { id } = await year.listed(seller)
        const spend = async () =>
          (await year.plus<{ remaining_highlight_credits: number }>(seller, 'POST', '/make-highlight', { id }, { 'idempotency-key': 'once' })).body
            .data.remaining_highlight_credits
        expect(await spend()).toBe(2)
        year.at(after(from, DAY_MS - 1), async () => expect(await spend()).toBe(2))
        year.at(after(from, DAY_MS), async () => expect(await spend()).toBe(1))
      })
    },
  },
  {
    name: 'an API key ends at its expiry, and a rotated one after 24 hours',
    plan: async (year) => {
      const from = local('2027-05-01T00:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const use = async (key: string) => (await year.plus({ ...seller, key }, 'GET', '/my-listings')).status
        const { body } = await year.operator<{ key: string }>('POST', `/accounts/${seller.id}/keys`, { expires_at: iso(after(from, 40 * DAY_MS)) })
        year.at(after(from, 40 * DAY_MS - 1), async () => expect(await use(body.data.key)).toBe(200))
        year.at(after(from, 40 * DAY_MS), async () => expect(await use(body.data.key)).toBe(401))
        const fresh = await call(rotateKey, year.node.ctx, { id: seller.keyId })
        year.at(after(from, DAY_MS - 1), async () => expect([await use(seller.key), await use(fresh.key)]).toEqual([200, 200]))
        year.at(after(from, DAY_MS), async () => expect([await use(seller.key), await use(fresh.key)]).toEqual([401, 200]))
      })
    },
  },
  {
    name: 'a failed webhook is repeated after 30 seconds and 5 more minutes, three attempts in total',
    plan: async (year) => {
      const from = local('2027-03-28T01:59', year.zone)
      year.at(from, async () => {
        const receiver = await openReceiver(status(500))
        const seller = await year.seller()
        expect((await year.plus(seller, 'PUT', '/webhook', { url: receiver.url, on_sale: true, on_expire: true, is_active: true })).status).toBe(200)
        await order(year, (await year.listed(seller)).id)
        const log = async () =>
          (await year.plus<{ attempt: number; created_at: string }[]>(seller, 'GET', '/webhook/logs')).body.data
            .map(({ attempt, created_at: at }) => [attempt, Date.parse(at) - from.getTime()])
            .toSorted()
        year.at(after(from, 29_999), async () => expect(await log()).toEqual([[1, 0]]))
        year.at(after(from, 30_000 + 299_999), async () => expect((await log()).length).toBe(2))
        year.at(after(from, DAY_MS), async () => {
          expect(await log()).toEqual([
            [1, 0],
            [2, 30_000],
            [3, 330_000],
          ])
          await receiver.close()
        })
      })
    },
  },
  {
    name: 'after a rotation, the previous webhook secret signs for 24 hours, and no other rotation is possible',
    plan: async (year) => {
      const from = local('2027-06-10T08:00', year.zone)
      year.at(from, async () => {
        const receiver = await openReceiver()
        const seller = await year.seller()
        await year.plus(seller, 'PUT', '/webhook', { url: receiver.url, on_sale: true, on_expire: true, is_active: true })
        const { id } = await year.listed(seller, { quantity: 5 })
        const rotate = async () => (await year.plus(seller, 'POST', '/webhook/rotate-secret')).status
        expect(await rotate()).toBe(200)
        const signatures = async () => {
          await order(year, id)
          return () => String(receiver.received.at(-1)!.headers['webhook-signature']).split(' ').length / 2
        }
        year.at(after(from, DAY_MS - 1_000), async () => {
          expect(await rotate()).toBe(409)
          const count = await signatures()
          year.at(after(from, DAY_MS - 500), async () => expect(count()).toBe(2))
        })
        year.at(after(from, DAY_MS), async () => {
          const count = await signatures()
          year.at(after(from, DAY_MS + 500), async () => {
            expect(count()).toBe(1)
            expect(await rotate()).toBe(200)
            await receiver.close()
          })
        })
      })
    },
  },
  {
    name: 'events and the log of their deliveries cover 90 days',
    plan: async (year) => {
      const from = local('2027-04-10T23:30', year.zone)
      year.at(from, async () => {
        const receiver = await openReceiver()
        const seller = await year.seller()
        await year.plus(seller, 'PUT', '/webhook', { url: receiver.url, on_sale: true, on_expire: true, is_active: true })
        await order(year, (await year.listed(seller)).id)
        const counts = async () => [
          (await eventsOf(year, seller, 'sale')).length,
          (await year.plus<unknown[]>(seller, 'GET', '/webhook/logs')).body.data.length,
        ]
        year.at(after(from, 90 * DAY_MS), async () => expect(await counts()).toEqual([1, 1]))
        year.at(after(from, 92 * DAY_MS), async () => {
          expect(await counts()).toEqual([0, 0])
          await receiver.close()
        })
      })
    },
  },
  {
    name: 'an offer can be answered for 48 hours; a buyer may make five in 30 days; it is kept for 365 days',
    plan: async (year) => {
      const from = local('2027-02-03T16:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const { id } = await year.listed(seller, { offers_enabled: true, quantity: 9 })
        const make = async (buyer: string) =>
          year.operator<{ id: number; status: string }>('POST', '/offers', {
            listing_id: id,
            unit_price: 80,
            order_id: orderId(),
            buyer_reference: buyer,
          })
        const statusNow = async (offer: number) => (await year.operator<{ status: string }>('GET', `/offers/${offer}`)).body.data.status
        const first = (await make('ann')).body.data.id
        year.at(after(from, 2 * DAY_MS - 1), async () => expect(await statusNow(first)).toBe('open'))
        year.at(after(from, 2 * DAY_MS), async () => {
          expect(await statusNow(first)).toBe('expired')
          expect((await year.plus(seller, 'POST', `/offers/${first}/accept`)).status).toBe(409)
          expect((await eventsOf(year, seller, 'offer')).map((data) => data.status)).toEqual(['open', 'expired'])
        })
        for (let day = 3; day < 7; day += 1) {
          year.at(after(from, day * DAY_MS), async () => {
            const { body } = await make('ann')
            expect((await year.plus(seller, 'POST', `/offers/${body.data.id}/decline`)).status).toBe(200)
          })
        }
        year.at(after(from, 7 * DAY_MS), async () => expect((await make('ann')).status).toBe(409))
        year.at(after(from, 30 * DAY_MS - 1), async () => expect((await make('ann')).status).toBe(409))
        year.at(after(from, 29 * DAY_MS), async () => {
          expect((await year.plus(seller, 'POST', '/listings/renew', { ids: [id] })).status).toBe(200)
        })
        year.at(after(from, 30 * DAY_MS + 1), async () => expect((await make('ann')).status).toBe(201))
        year.at(after(from, 366 * DAY_MS), async () => expect(await statusNow(first)).toBe('expired'))
        year.at(after(from, 369 * DAY_MS), async () => expect((await year.operator('GET', `/offers/${first}`)).status).toBe(404))
      })
    },
  },
  {
    name: 'a price plan can be applied for 24 hours, and jobs are kept for 90 days',
    plan: async (year) => {
      const from = local('2027-10-31T02:30', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const { id } = await year.listed(seller)
        const plan = async (price: number) =>
          (await year.plus<{ id: number }>(seller, 'POST', '/price-jobs', { rows: [{ id, price }], policy: 'good_rows' })).body.data.id
        const [late, soon] = [await plan(90), await plan(95)]
        const apply = async (job: number) => (await year.plus(seller, 'POST', `/price-jobs/${job}/apply`)).status
        year.at(after(from, DAY_MS - 1), async () => expect(await apply(soon)).toBe(200))
        year.at(after(from, DAY_MS), async () => expect(await apply(late)).toBe(409))
        year.at(after(from, 90 * DAY_MS), async () => expect((await year.plus(seller, 'GET', `/price-jobs/${soon}`)).status).toBe(200))
        year.at(after(from, 93 * DAY_MS), async () => expect((await year.plus(seller, 'GET', `/price-jobs/${soon}`)).status).toBe(404))
      })
    },
  },
  {
    name: 'a decision can be undone for a minute',
    plan: async (year) => {
      const from = local('2027-07-01T12:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const ids: number[] = []
        for (let i = 0; i < 2; i += 1) {
          const { id } = await pending(year.node, seller.item, { seller_id: seller.id })
          expect((await year.operator('POST', `/listings/${id}/reject`, { reason: 'blurred' })).status).toBe(200)
          ids.push(id)
        }
        const undo = async (id: number) => (await year.operator('POST', `/listings/${id}/undo-decision`)).status
        year.at(after(from, MINUTE_MS - 1), async () => expect(await undo(ids[0]!)).toBe(200))
        year.at(after(from, MINUTE_MS + 1), async () => expect(await undo(ids[1]!)).toBe(409))
      })
    },
  },
  {
    name: 'a notice of infringement is overdue after 48 hours, and kept for NOTICE_DAYS after its decision',
    plan: async (year) => {
      const from = local('2027-02-20T12:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const { id: listing } = await year.listed(seller)
        const { body } = await year.operator<{ id: number }>('POST', '/notices', {
          who: 'Rights Ltd',
          listing,
          right: 'trademark',
          evidence: 'a register',
        })
        const { id } = body.data
        const overdue = async () => (await year.operator<{ id: number }[]>('GET', '/notices?overdue=1')).body.data.map((one) => one.id).includes(id)
        year.at(after(from, 2 * DAY_MS), async () => expect(await overdue()).toBe(false))
        year.at(after(from, 2 * DAY_MS + 1), async () => {
          expect(await overdue()).toBe(true)
          await year.operator('POST', `/notices/${id}/decide`, { decision: 'keep', note: 'not theirs' })
        })
        const { noticeDays } = year.node.config
        year.at(after(from, (2 + noticeDays) * DAY_MS), async () => expect((await year.operator('GET', `/notices/${id}`)).status).toBe(200))
        year.at(after(from, (4 + noticeDays) * DAY_MS), async () => expect((await year.operator('GET', `/notices/${id}`)).status).toBe(404))
      })
    },
  },
  {
    name: 'changes are kept for 7 days; an older cursor gets 410',
    plan: async (year) => {
      const from = local('2027-08-02T00:30', year.zone)
      const read = async (cursor: string) =>
        (await send(`${year.node.publicUrl}/api/v1/changes?limit=1000${cursor}`, year.node.keys.professional)) as unknown as {
          status: number
          body: { next: string; data: unknown[] }
        }
      const end = async () => {
        let reply = await read('')
        while (reply.body.data.length > 0) reply = await read(`&after=${reply.body.next}`)
        return reply.body.next
      }
      year.at(from, async () => {
        const cursor = await end()
        await year.operator('POST', '/categories', { name: 'A set', game: 'pokemon', market: 'source_c' })
        year.at(after(from, 7 * DAY_MS - 1), async () => expect((await read(`&after=${cursor}`)).status).toBe(200))
        year.at(after(from, 9 * DAY_MS), async () => expect((await read(`&after=${cursor}`)).status).toBe(410))
      })
    },
  },
  {
    name: 'usage of keys covers 30 days and is kept for 60',
    plan: async (year) => {
      const from = local('2027-09-01T12:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        await year.plus(seller, 'GET', '/my-listings')
        await year.node.runTask('api-key-uses')
        const shown = async () => (await year.operator<{ requests: number }[]>('GET', `/accounts/${seller.id}/usage`)).body.data.length
        const rows = async () =>
          (await year.node.db.kysely.selectFrom('api_key_usage').selectAll().where('key_id', '=', seller.keyId).execute()).length
        year.at(after(from, 29 * DAY_MS), async () => expect(await shown()).toBe(1))
        year.at(after(from, 30 * DAY_MS), async () => expect(await shown()).toBe(0))
        year.at(after(from, 59 * DAY_MS), async () => expect(await rows()).toBe(1))
        year.at(after(from, 62 * DAY_MS), async () => expect(await rows()).toBe(0))
      })
    },
  },
  {
    name: 'the worth of a collection is recorded once on each day',
    plan: async (year) => {
      const seller = await year.seller()
      const { body } = await year.operator<{ id: number }>('POST', '/collections', { account_id: seller.id, name: 'Mine' })
      const path = `/collections/${body.data.id}`
      expect((await year.plus(seller, 'POST', `${path}/items`, { item_id: seller.item, quantity: 1 })).status).toBe(201)
      year.at(after(year.start, 395 * DAY_MS), async () => {
        const first = localDay(after(year.start, DAY_MS), year.zone)
        const { body: history } = await year.plus<{ day: string }[]>(seller, 'GET', `${path}/worth-history?from=${first}`)
        const days = history.data.map(({ day }) => day)
        const expected: string[] = []
        for (let day = Temporal.PlainDate.from(first); day.toString() <= localDay(year.now(), year.zone); day = day.add({ days: 1 }))
          expected.push(day.toString())
        expect(days).toEqual(expected)
        expect(days).toContain('2028-02-29')
      })
    },
  },
  {
    name: 'a sale and its refund are in the statements of their own months, by local midnight',
    plan: async (year) => {
      const sold = local('2028-02-29T23:59:59', year.zone)
      year.at(sold, async () => {
        const seller = await year.seller()
        const { id } = await year.listed(seller)
        const made = await order(year, id)
        year.at(after(sold, 1_000), async () => {
          expect((await year.operator('POST', `/orders/${made.id}/cancel`, { reason: 'Returned' })).status).toBe(200)
          const kinds = async (month: string) =>
            (await year.plus<{ lines: { kind: string }[] }>(seller, 'GET', `/statement?month=${month}`)).body.data.lines.map(({ kind }) => kind)
          expect([await kinds('2028-02'), await kinds('2028-03')]).toEqual([['sale'], ['refund']])
        })
      })
    },
  },
  {
    name: 'prices of each month can be stored, archived months read the same, and months beyond PRICE_HISTORY_DAYS are gone',
    plan: async (year) => {
      const { item } = await year.seller()
      const points = async () => {
        const url = `${year.node.publicUrl}/api/v1/items/${item}/price-history?market=source_c&label=PSA+8&interval=day&from=2027-02-01T00:00:00Z&to=2028-03-05T00:00:00Z`
        return (await send<{ date: string }[]>(url, year.node.keys.professional)).body.data.map(({ date }) => date.slice(0, 7))
      }
      const months: string[] = []
      for (let month = Temporal.PlainYearMonth.from('2027-03'); month.toString() <= '2028-02'; month = month.add({ months: 1 })) {
        year.at(local(`${month.toString()}-${month.month === 2 ? '29' : '15'}T00:00`, year.zone), async () => {
          const price = { item_id: item, market: 'source_c', label: 'PSA 8', price: 10 + month.month, updated_at: iso(year.now()) }
          expect((await year.operator('POST', '/prices', [price])).body.data).toMatchObject({ accepted: 1 })
          months.push(iso(year.now()).slice(0, 7))
        })
      }
      year.at(local('2027-11-20T00:00', year.zone), async () => {
        const archived = await year.node.db.kysely.selectFrom('price_archives').select('month').orderBy('month').execute()
        expect(archived.map(({ month }) => month)).toContain('2027-03')
        expect(await points()).toEqual(months)
      })
      year.at(local('2028-03-04T00:00', year.zone), async () => {
        const since = iso(after(year.now(), -year.node.config.priceHistoryDays * DAY_MS)).slice(0, 7)
        expect(await points()).toEqual(months.filter((month) => month >= since))
      })
    },
  },
  {
    name: 'archived months of the audit log are listed as before, and entries beyond AUDIT_LOG_DAYS are gone',
    plan: async (year) => {
      const from = local('2027-02-10T12:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        const entries = async () => {
          const query = `subject_type=account&subject_id=${seller.id}`
          return (await year.operator<{ action: string }[]>('GET', `/audit?${query}`)).body.data.map(({ action }) => action)
        }
        expect(await entries()).toEqual(['account.create'])
        year.at(after(from, 120 * DAY_MS), async () => {
          const archived = await year.node.db.kysely.selectFrom('audit_archives').select('month').execute()
          expect(archived.map(({ month }) => month)).toContain('2027-02')
          expect(await entries()).toEqual(['account.create'])
        })
        year.at(after(from, (year.node.config.auditLogDays + 40) * DAY_MS), async () => expect(await entries()).toEqual([]))
      })
    },
  },
  {
    name: 'imports of listings are listed for 90 days',
    plan: async (year) => {
      const from = local('2027-12-01T12:00', year.zone)
      year.at(from, async () => {
        const seller = await year.seller()
        await year.operator('PATCH', `/accounts/${seller.id}`, { listing_intake: { quota: 10 } })
        const rows = [{ sku: 'A', item_id: seller.item, price: 99 }]
        expect((await year.plus(seller, 'POST', '/listings/import', { rows })).status).toBe(200)
        const listed = async () => (await year.plus<unknown[]>(seller, 'GET', '/listings/imports')).body.data.length
        year.at(after(from, 90 * DAY_MS), async () => expect(await listed()).toBe(1))
        year.at(after(from, 92 * DAY_MS), async () => expect(await listed()).toBe(0))
      })
    },
  },
  {
    name: 'a key that expires within 7 days is told; a resolved notification is kept for 90 days',
    plan: async (year) => {
      const from = local('2027-06-01T12:00', year.zone)
      const ends = after(from, 30 * DAY_MS)
      year.at(from, async () => {
        const seller = await year.seller()
        await year.operator('POST', `/accounts/${seller.id}/keys`, { expires_at: iso(ends) })
        const states = async () => {
          await tellFindings(year.parts)
          return (await year.plus<{ kind: string; state: string }[]>(seller, 'GET', '/notifications')).body.data.map(({ kind, state }) => [
            kind,
            state,
          ])
        }
        year.at(after(ends, -7 * DAY_MS - 1), async () => expect(await states()).toEqual([]))
        year.at(after(ends, -7 * DAY_MS + 1), async () => expect(await states()).toEqual([['own_key_expiring', 'open']]))
        const rows = async () =>
          (await year.node.db.kysely.selectFrom('notifications').selectAll().where('account_id', '=', seller.id).execute()).length
        year.at(after(ends, 1), async () => {
          await states()
          expect(await rows()).toBe(1)
        })
        year.at(after(ends, 90 * DAY_MS), async () => expect(await rows()).toBe(1))
        year.at(after(ends, 92 * DAY_MS), async () => expect(await rows()).toBe(0))
      })
    },
  },
  {
    name: 'an order may be dated at most five minutes ahead',
    plan: async (year) => {
      year.at(local('2027-03-28T01:58', year.zone), async () => {
        const { id } = await year.listed(await year.seller(), { quantity: 3 })
        const status = async (ms: number) => (await order(year, id, { sold_at: iso(after(year.now(), ms)) })).reply.status
        expect([await status(5 * MINUTE_MS), await status(5 * MINUTE_MS + 1_000)]).toEqual([201, 422])
      })
    },
  },
]
