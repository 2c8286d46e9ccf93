// The transition table of listings: every pair decided, the transitions that the contract names, no status named elsewhere, and the generated
// document.
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { textOf } from '#core/problems.ts'
import { ACTIONS, decide, type Facts, STATUSES, statusAt, TABLE } from '#market/records/rules.ts'
import { statesDocument } from '#market/listings/transition-diagram.ts'

const facts: fc.Arbitrary<Facts> = fc.record({
  contentApproved: fc.boolean(),
  inPeriod: fc.boolean(),
  stock: fc.nat(2),
  sellerMaySell: fc.boolean(),
  certificateFree: fc.boolean(),
})

test('every status and action has a decision, and rejections have a reason', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STATUSES), fc.constantFrom(...ACTIONS), facts, (status, action, listing) => {
      const decision = decide(status, action, listing)
      if ('refused' in decision) expect(textOf(decision.refused).length).toBeGreaterThan(10)
      else expect([...STATUSES, 'deleted']).toContain(decision.to)
    }),
  )
  expect(Object.keys(TABLE)).toHaveLength(STATUSES.length)
})

test('only deletion and a cancelled sale leave sold, only approval, publication, renewal and such a sale lead to active, only stock leads to sold', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STATUSES), fc.constantFrom(...ACTIONS), facts, (status, action, listing) => {
      const decision = decide(status, action, listing)
      if ('refused' in decision) return
      if (status === 'sold') expect(['delete', 'restore']).toContain(action)
      if (decision.to === 'active' && status !== 'active') expect(['approve', 'publish', 'renew', 'restore']).toContain(action)
      if (decision.to === 'sold') expect({ action, stock: listing.stock }).toEqual({ action: 'sell', stock: 0 })
      if (decision.to === 'deleted') expect(action).toBe('delete')
      if (action === 'reprice' || action === 'restock') expect(decision.to).toBe(status)
      if (action === 'edit') expect(decision.to).toBe('pending')
    }),
  )
})

test('no action activates a listing whose certificate is on sale in another one', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STATUSES), fc.constantFrom(...ACTIONS), facts, (status, action, listing) => {
      const decision = decide(status, action, { ...listing, certificateFree: false })
      if (status !== 'active' && 'to' in decision) expect(decision.to).not.toBe('active')
    }),
  )
})

test('publishing after a pause activates a listing only if it is approved, its period is not over and its certificate is free', () => {
  const publish = (contentApproved: boolean, inPeriod: boolean, certificateFree = true) =>
    decide('paused', 'publish', { contentApproved, inPeriod, stock: 1, sellerMaySell: true, certificateFree })
  expect(publish(true, true)).toEqual({ to: 'active' })
  expect([publish(false, true), publish(true, false), publish(false, false), publish(true, true, false)]).toEqual(Array(4).fill({ to: 'pending' }))
})

test('returned stock makes a sold listing active only if it could be published', () => {
  fc.assert(
    fc.property(facts, (listing) => {
      const decision = decide('sold', 'restore', listing)
      if (listing.contentApproved && listing.inPeriod && listing.sellerMaySell && listing.certificateFree) expect(decision).toEqual({ to: 'active' })
      else expect(decision).toEqual({ to: listing.inPeriod ? 'paused' : 'expired' })
    }),
  )
  for (const status of STATUSES.filter((one) => one !== 'sold')) {
    expect(decide(status, 'restore', { contentApproved: false, inPeriod: false, stock: 1, sellerMaySell: false, certificateFree: false })).toEqual({
      to: status,
    })
  }
})

test('verbs, statements and expiry do not name statuses themselves', () => {
  // Price jobs and offers have a status `expired` of their own.
  const directory = new URL('../../src/market/', import.meta.url)
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/^(records\/rules|records\/visibility|orders\/demo|jobs\/states|offers\/offer-store)\.ts$/.test(file),
  )
  const named = new RegExp(`'(${STATUSES.join('|')})'`)
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter((file) => named.test(readFileSync(new URL(file, directory), 'utf8')))).toEqual([])
})

test('a period ends exactly at its end', () => {
  const end = new Date('2026-12-01T00:00:00Z')
  expect(statusAt('active', end, new Date(end.getTime() - 1))).toBe('active')
  expect(statusAt('active', end, end)).toBe('expired')
  expect(statusAt('paused', end, end)).toBe('paused')
})

test('docs/listing-states.md is generated from the table (update it with `npx node src/market/listings/transition-diagram.ts`)', () => {
  expect(readFileSync(new URL('../../docs/listing-states.md', import.meta.url), 'utf8')).toBe(statesDocument())
})
