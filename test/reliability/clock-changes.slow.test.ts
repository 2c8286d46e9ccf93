// Days on which the clocks change, in zones that change by an hour, by half an hour, and at midnight: what happens once a day does so.
import { describe, expect, test } from 'vitest'
import { localDay, localTime } from '#core/time.ts'
import type { DueWork } from '#jobs/due-work.ts'
import { after, DAY_MS, HOUR_MS, local, MINUTE_MS, openYear, runYear, type TimePromise } from './year-kit.ts'

/** The first day after the night of each change. */
const CHANGES = [
  ['Europe/Berlin', '2027-03-28', '2027-10-31'],
  ['America/New_York', '2027-03-14', '2027-11-07'],
  // By half an hour.
  ['Australia/Lord_Howe', '2027-04-04', '2027-10-03'],
  // At midnight: 30 April begins at 1 o'clock, and 28 October has its last hour twice.
  ['Africa/Cairo', '2027-04-30', '2027-10-29'],
] as const
const DAYS = 5
/** the hour that is skipped or repeated in most of them */
const DUMP_HOUR = 2

/** A listing whose price changes just after midnight and just before the next one on each day, and somebody who watches it. */
const watched: TimePromise = {
  name: 'watch',
  plan: async (year) => {
    const [seller, watcher] = [await year.seller(), await year.seller()]
    const { id } = await year.listed(seller, { price: 500 })
    const watch = { kind: 'offer_below', item_id: seller.item, amount: 200 }
    expect((await year.plus(watcher, 'PUT', '/watches', watch)).status).toBe(200)
    const reprice = async (price: number) => expect((await year.plus(seller, 'PATCH', `/listings/${id}`, { price })).status).toBe(200)
    const days: string[] = []
    for (let day = 1; day < DAYS; day += 1) {
      const date = Temporal.PlainDate.from(localDay(year.start, year.zone)).add({ days: day }).toString()
      days.push(date)
      // A day may begin later than at 0:00.
      const begins = new Date(Temporal.PlainDate.from(date).toZonedDateTime(year.zone).epochMilliseconds)
      year.at(after(begins, MINUTE_MS), () => reprice(100 + 2 * day))
      year.at(local(`${date}T23:58`, year.zone), () => reprice(101 + 2 * day))
    }
    year.at(local(`${days.at(-1)!}T23:59`, year.zone), async () => {
      const events = year.node.db.kysely.selectFrom('webhook_events').select('created_at').where('account_id', '=', watcher.id).orderBy('id')
      expect((await events.execute()).map((row) => localDay(row.created_at, year.zone))).toEqual(days)
    })
  },
}

describe.each(CHANGES)('%s', (zone, ...mornings) => {
  test.each(mornings)('%s', async (morning) => {
    const start = after(local(`${morning}T12:00`, zone), -3 * DAY_MS)
    const opened = await openYear(start, zone, 20, { DUMP_HOUR: String(DUMP_HOUR) })
    const { node, parts, now } = opened
    const dumped: string[] = []
    const dumps: DueWork = {
      name: 'dumps',
      next: (last) => new Date((Math.floor(last.getTime() / (10 * MINUTE_MS)) + 1) * 10 * MINUTE_MS),
      run: async () => {
        await parts.dumps.makeDue(false)
        const { as_of: at } = (await parts.dumps.store.latest())!
        const time = localTime(new Date(at), zone)
        if (dumped.at(-1) !== time) dumped.push(time)
      },
    }
    const { errors, ran } = await runYear(opened, [watched], { days: DAYS, zone, more: [dumps] })
    const days: string[] = []
    for (
      let day = Temporal.PlainDate.from(localDay(start, zone)).add({ days: 1 });
      day.toString() <= localDay(now(), zone);
      day = day.add({ days: 1 })
    ) {
      days.push(day.toString())
    }
    // The first dump is made at once.
    expect(dumped.slice(1).map((time) => time.slice(0, 10))).toEqual(days)
    for (const time of dumped.slice(1)) expect(time.slice(11, 13)).toMatch(time.startsWith(morning) ? /^0[23]$/ : /^02$/)
    expect(ran.get('housekeeping')!.map((ms) => localDay(new Date(ms), zone))).toEqual(days)
    for (const ms of ran.get('housekeeping')!) expect(localDay(new Date(ms - 1), zone)).not.toBe(localDay(new Date(ms), zone))
    expect(errors.get('watch')).toEqual([])
    expect(node.clock.now().getTime() - start.getTime()).toBe(DAYS * 24 * HOUR_MS)
    await opened.close()
  })
})
