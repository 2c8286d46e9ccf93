// Certificates of graded cards: one copy is on sale once over all sellers, whichever way a listing becomes active; what is known of a
// certificate fills a listing in; reviewers see the other listing and the history.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import type { WaitingListing } from '#market/approval/approval-queue.ts'
import { judgeWaiting } from '#market/approval/judge.ts'
import type { ListingReview } from '#market/approval/review.ts'
import type { CertificatesReport } from '#market/certificates/import-certificates.ts'
import type { StoredCertificateAnswer } from '#market/certificates/get-certificate.ts'
import { createListing } from '#market/listings/create-listing.ts'
import type { CreatedListing, ListingImport } from '#market/intake/types.ts'
import type { OwnListing, StoredListing } from '#market/marketplace-types.ts'
import { ask } from '../graphql/client.ts'
import { OPERATOR_TOKEN, send, startTwoNodes, type TestNode } from '../support/node.ts'
import { endPeriods, inStatus, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let other: TestNode
let close: () => Promise<void>
let items: Record<string, number>
let rival: number

beforeAll(async () => {
  ;({ here: node, there: other, close } = await startTwoNodes())
  ;({ items } = await makeCatalogue(node))
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 10_000 } })
  rival = (await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Rival', plan: 'plus' })).body.data.id
})
afterAll(() => close())

let certs = 10_000_000
const newCert = () => {
  certs += 1
  return String(certs)
}
const psa = (cert: string, grade = '10') => ({ grader: 'PSA', cert, grade })
const stored = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const review = async (id: number) => (await operator<ListingReview>(node, 'GET', `/listings/${id}/review`)).body.data.certificate!
const approve = (id: number, at = node) => operator<StoredListing>(at, 'POST', `/listings/${id}/approve`, {})
const create = (body: object, query = '') => plus<CreatedListing>(node, 'POST', `/listings${query}`, body)
const certificatesCsv = (text: string, status = 200) =>
  sendCsv(text).then((reply) => {
    expect(reply.status, JSON.stringify(reply.body)).toBe(status)
    return reply.body
  })
const sendCsv = (text: string) =>
  send<CertificatesReport>(`${node.operatorUrl}/operator/v1/certificates`, OPERATOR_TOKEN, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'text/csv' },
  })
const activeWith = async (cert: string) =>
  (
    await node.db.kysely
      .selectFrom('listings')
      .select('id')
      .where('status', '=', 'active')
      .where(sql<boolean>`certificate->>'cert' = ${cert}`)
      .execute()
  ).map(({ id }) => id)

/** A listing of the rival that is on sale with this certificate. */
const onSale = async (cert: string) => (await published(node, items.char!, { seller_id: rival, certificate: psa(cert) })).id

test('a certificate is stored in one spelling, shown with the listing, and changed only with approval', async () => {
  const cert = newCert()
  const { status, body } = await create({
    item_id: items.char,
    price: 500,
    certificate: { grader: 'PSA', cert: `00${cert.slice(0, 4)}-${cert.slice(4)}`, grade: '9', qualifier: 'OC', subgrades: { corners: 9.5 } },
  })
  const certificate = {
    grader: 'PSA',
    grade: '9',
    cert,
    qualifier: 'OC',
    subgrades: { centering: null, corners: 9.5, edges: null, surface: null },
  }
  expect([status, body.data]).toMatchObject([201, { certificate, status: 'pending' }])
  const { id } = body.data
  expect((await approve(id)).body.data).toMatchObject({ status: 'active', certificate })
  expect((await plus<OwnListing>(node, 'GET', `/listings/${id}`)).body.data.certificate).toEqual(certificate)
  const { key } = await call(createKey, node.ctx, { account_id: rival, label: 'buys' })
  const shown = await plus<OwnListing>(node, 'GET', `/listings/${id}?with_details=1`, undefined, { key })
  expect(shown.body.data.certificate).toEqual(certificate)
  expect((await ask<object>(node, `{ listing(id: ${id}) { certificate { grader cert subgrades { corners } } } }`, { plan: 'plus' })).data).toEqual({
    listing: { certificate: { grader: 'PSA', cert, subgrades: { corners: 9.5 } } },
  })
  const forecast = await plus<{ forecast: object }>(node, 'PATCH', `/listings/${id}?dry_run=1`, { certificate: null })
  expect(forecast.body.data.forecast).toMatchObject({ status: 'pending', because: ['certificate'] })
  expect((await plus(node, 'PATCH', `/listings/${id}`, { certificate: { ...certificate, grade: '10' } })).body.data.status).toBe('pending')
  expect((await stored(id)).changed_since_approval).toMatchObject([{ field: 'certificate', approved: { grade: '9' }, now: { grade: '10' } }])
  const mutation = `mutation { updateListing(listingId: ${id}, input: { certificate: { grader: "CGC", cert: "4012345001", grade: "9.5" } }) { status } }`
  expect((await ask<object>(node, mutation, { plan: 'plus' })).data).toEqual({ updateListing: { status: 'pending' } })
  expect((await stored(id)).certificate).toEqual({ grader: 'CGC', cert: '4012345001', grade: '9.5', qualifier: null, subgrades: null })
  await plus(node, 'PATCH', `/listings/${id}`, { certificate: null })
  expect((await stored(id)).certificate).toBeNull()
})

test('a certificate belongs to one copy', async () => {
  const certificate = psa(newCert())
  const problem = async (reply: Promise<{ status: number; body: { error?: { details?: { field: string; rule: string }[] } } }>) => {
    const { status, body } = await reply
    return [status, body.error?.details?.map(({ field, rule }) => [field, rule])]
  }
  const refused = [422, [['quantity', 'certificate_quantity']]]
  expect(await problem(create({ item_id: items.char, price: 5, quantity: 2, certificate }))).toEqual(refused)
  const { id } = (await create({ item_id: items.char, price: 5, certificate })).body.data
  expect(await problem(plus(node, 'PATCH', `/listings/${id}`, { quantity: 2 }))).toEqual(refused)
  expect(await problem(plus(node, 'PATCH', `/listings/${id}`, { quantity: 2, title: 'Two' }))).toEqual(refused)
  expect(await problem(operator(node, 'PATCH', `/listings/${id}`, { quantity: 2 }))).toEqual(refused)
  const job = await plus<{ rows_refused: number; rows: object[] }>(node, 'POST', '/price-jobs', { rows: [{ listing_id: id, quantity: 2 }] })
  expect(job.body.data).toMatchObject({ rows_refused: 1 })
  const several = await create({ item_id: items.char, price: 5, quantity: 2 })
  expect(await problem(plus(node, 'PATCH', `/listings/${several.body.data.id}`, { certificate }))).toEqual(refused)
  expect((await plus(node, 'PATCH', `/listings/${id}`, { quantity: 0 })).status).toBe(200)
})

test('with a certificate alone, item and label are those of the file, of a record of the seller, or of an approved listing', async () => {
  const [ofFile, ofRecord, ofListing, ofRival] = [newCert(), newCert(), newCert(), newCert()]
  await certificatesCsv(`grader,cert,grade,item_id,label\npsa,${ofFile},10,${items.char},PSA 10\n`)
  const collection = (await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Slabs' })).body.data.id
  const record = await plus<object>(node, 'POST', `/collections/${collection}/items`, { item_id: items.pika, certificate: psa(ofRecord, '8') })
  expect(record.status, JSON.stringify(record.body)).toBe(201)
  await published(node, items.char!, { seller_id: rival, certificate: psa(ofListing, '9'), title: 'Sold soon' })
  await pending(node, items.char!, { seller_id: rival, certificate: psa(ofRival) })
  const alone = (cert: string) => create({ price: 900, certificate: { grader: 'PSA', cert } })
  expect((await alone(ofFile)).body.data).toMatchObject({
    item_id: items.char,
    grade: { label: 'PSA 10' },
    title: 'Charizard 4/102, Base Set',
    certificate: { cert: ofFile, grade: '10' },
  })
  expect((await alone(ofRecord)).body.data).toMatchObject({ item_id: items.pika, certificate: { grade: '8' } })
  expect((await alone(ofListing)).body.data).toMatchObject({ item_id: items.char, certificate: { grade: '9' } })
  // A listing that nobody has approved says nothing about a copy.
  for (const cert of [ofRival, newCert()]) {
    expect((await alone(cert)).body.error?.details).toMatchObject([{ field: 'certificate.cert', rule: 'certificate_unknown' }])
  }
  const beside = await create({ item_id: items.char, price: 5, certificate: { grader: 'PSA', cert: newCert() } })
  expect(beside.body.error?.details).toMatchObject([{ field: 'certificate.grade', rule: 'required' }])
  const input = `{ price: 5, certificate: { grader: "PSA", cert: "${newCert()}" } }`
  const { errors } = await ask<object>(node, `mutation { createListing(input: ${input}) { id } }`, { plan: 'plus' })
  expect(JSON.stringify(errors)).toContain('certificate_unknown')
})

test('an unusual number or grade is accepted with a warning', async () => {
  const certificate = { grader: 'PSA', cert: 'AB12', grade: '9.7' }
  const { status, body } = await create({ item_id: items.char, price: 5, certificate }, '?dry_run=1')
  expect([status, body.data.forecast!.warnings.map(({ rule }) => rule)]).toEqual([
    201,
    expect.arrayContaining(['certificate_shape', 'certificate_grade']),
  ])
  const { id } = (await create({ item_id: items.char, price: 5, certificate })).body.data
  expect((await review(id)).warnings.map(({ rule }) => rule)).toEqual(['certificate_shape', 'certificate_grade'])
  const report = await certificatesCsv(`grader,cert,grade,item_id\nTAG,1,11,${items.char}\n`)
  expect(report.data).toMatchObject({
    created: 1,
    rows: [{ line: 2, outcome: 'created', warnings: [{ rule: 'certificate_shape' }, { rule: 'certificate_grade' }] }],
  })
})

test('an operator cannot approve a second listing of a copy; it keeps waiting, and both are shown', async () => {
  const cert = newCert()
  const first = await onSale(cert)
  const { id } = await pending(node, items.char!, { certificate: psa(cert) })
  expect(await review(id)).toMatchObject({
    conflict: { listing_id: first, seller: { id: rival, name: 'Rival' }, price: 100 },
    history: [{ kind: 'listing', listing_id: first, seller: { id: rival }, status: 'active' }],
  })
  const waiting = await operator<WaitingListing[]>(node, 'GET', `/listings/waiting?seller_id=${node.accounts.plus}&per_page=100`)
  expect(waiting.body.data.find((row) => row.id === id)?.review.certificate?.conflict?.listing_id).toBe(first)
  const { status, body } = await approve(id)
  expect([status, body.error]).toMatchObject([409, { code: 'CONFLICT', rule: 'certificate_active' }])
  expect(await stored(id)).toMatchObject({ status: 'pending', certificate: { cert } })
  const rejected = await inStatus(node, 'rejected', items.char!)
  await operator(node, 'PATCH', `/listings/${rejected.id}`, { certificate: psa(cert) })
  expect((await approve(rejected.id)).status).toBe(409)
  expect((await stored(rejected.id)).status).toBe('rejected')
  await operator(node, 'POST', `/listings/${first}/reject`, { reason: 'not yours' })
  expect((await review(id)).conflict).toBeNull()
  expect((await approve(id)).body.data.status).toBe('active')
})

test('publishing, renewing and correcting do not put a copy on sale twice', async () => {
  const [paused, expired, corrected] = [newCert(), newCert(), newCert()]
  const ofPaused = await inStatus(node, 'paused', items.char!, { certificate: psa(paused) })
  const ofExpired = await inStatus(node, 'expired', items.char!, { certificate: psa(expired) })
  await endPeriods(node)
  const twin = await pending(node, items.char!, { certificate: psa(expired) })
  const holders = [await onSale(paused), await onSale(expired)]
  const publish = await plus(node, 'POST', `/listings/${ofPaused.id}/status?action=publish`)
  expect(publish.body).toMatchObject({ data: { status: 'pending' }, message: 'Listing pending approval' })
  const renewal = (id: number) => plus<{ status: string; refused: null }[]>(node, 'POST', '/listings/renew', { ids: [id] })
  expect((await renewal(ofExpired.id)).body.data).toMatchObject([{ status: 'pending', refused: null }])
  expect(await stored(ofExpired.id)).toMatchObject({ status: 'pending', waiting_since: expect.any(String), approved_price: 100 })
  expect([await activeWith(paused), await activeWith(expired)]).toEqual(holders.map((id) => [id]))
  expect((await review(ofPaused.id)).conflict?.listing_id).toBe(holders[0])
  // Of two own listings of a copy, a renewal publishes one.
  const again = newCert()
  const pair = []
  for (let n = 0; n < 2; n += 1) {
    pair.push(await inStatus(node, 'expired', items.char!, { certificate: psa(again) }))
    await endPeriods(node)
  }
  const both = await plus<{ status: string }[]>(node, 'POST', '/listings/renew', { ids: pair.map(({ id }) => id) })
  expect(both.body.data.map(({ status }) => status)).toEqual(['active', 'pending'])
  // An operator's correction of a listing that is on sale.
  const target = await published(node, items.char!, { certificate: psa(corrected) })
  const correct = await operator(node, 'PATCH', `/listings/${target.id}`, { certificate: psa(paused) })
  expect([correct.status, correct.body.error]).toMatchObject([409, { rule: 'certificate_active', params: { id: holders[0] } }])
  expect((await stored(target.id)).certificate).toMatchObject({ cert: corrected })
  expect((await operator(node, 'PATCH', `/listings/${target.id}`, { certificate: psa(corrected, '9') })).status).toBe(200)
  expect((await stored(twin.id)).status).toBe('pending')
})

test('a refund gives the stock back without putting the copy on sale twice', async () => {
  const cert = newCert()
  const sold = await published(node, items.char!, { certificate: psa(cert) })
  const order = orderId()
  await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: sold.id, quantity: 1 }] })
  const holder = await onSale(cert)
  const { status, body } = await operator<{ lines: { cancellation: object }[] }>(node, 'POST', `/orders/${order}/cancel`, { reason: 'returned' })
  expect([status, body.data.lines]).toMatchObject([200, [{ cancellation: { listing_status: 'paused' } }]])
  expect(await stored(sold.id)).toMatchObject({ status: 'paused', quantity: 1 })
  expect((await plus(node, 'POST', `/listings/${sold.id}/status?action=publish`)).body.data.status).toBe('pending')
  expect(await activeWith(cert)).toEqual([holder])
  // Without another listing, the refund puts it on sale again.
  const free = await published(node, items.char!, { certificate: psa(newCert()) })
  const second = orderId()
  await operator(node, 'POST', '/orders', { order_id: second, lines: [{ listing_id: free.id, quantity: 1 }] })
  await operator(node, 'POST', `/orders/${second}/cancel`, { reason: 'returned' })
  expect((await stored(free.id)).status).toBe('active')
})

test('undoing a rejection sends the listing to approval if its copy is on sale meanwhile', async () => {
  const cert = newCert()
  const { id } = await published(node, items.char!, { certificate: psa(cert) })
  await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'a mistake' })
  const holder = await onSale(cert)
  expect((await operator(node, 'POST', `/listings/${id}/undo-decision`)).body.data).toMatchObject({ status: 'pending', rejection_reason: null })
  expect((await stored(id)).waiting_since).not.toBeNull()
  expect((await review(id)).conflict?.listing_id).toBe(holder)
  expect((await operator(node, 'POST', `/listings/${holder}/reject`, { reason: 'stolen' })).status).toBe(200)
  expect((await approve(id)).body.data.status).toBe('active')
})

test('approval rules leave a copy that another seller offers or has sold to a person', async () => {
  await published(node, items.luffy!)
  const rule = await operator<{ id: number }>(node, 'POST', '/approval-rules', {
    name: 'Old sellers',
    conditions: { seller_age_days: { min: 0 } },
    min_decisions: 1,
    max_rejected_percent: 100,
  })
  const on = await operator(node, 'PATCH', `/approval-rules/${rule.body.data.id}`, { mode: 'on' })
  expect(on.status, JSON.stringify(on.body)).toBe(200)
  const [free, taken, soldBefore] = [newCert(), newCert(), newCert()]
  const holder = await onSale(taken)
  const order = orderId()
  const sale = await onSale(soldBefore)
  await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: sale, quantity: 1 }] })
  const listings = []
  for (const cert of [free, free, taken, soldBefore]) listings.push(await pending(node, items.char!, { certificate: psa(cert) }))
  await judgeWaiting(node.ctx)
  const statuses = []
  for (const { id } of listings) statuses.push((await stored(id)).status)
  expect(statuses).toEqual(['active', 'pending', 'pending', 'pending'])
  expect(await activeWith(taken)).toEqual([holder])
  await operator(node, 'PATCH', `/approval-rules/${rule.body.data.id}`, { mode: 'off' })
})

test('a sold copy that returns with another seller shows who offered and sold it, even after its listing is deleted', async () => {
  const cert = newCert()
  const first = await published(node, items.char!, { certificate: psa(cert), price: 700 })
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: first.id, quantity: 1 }] })
  await plus(node, 'DELETE', `/listings/${first.id}`)
  const earlier = await inStatus(node, 'rejected', items.char!, { certificate: psa(cert), price: 650 })
  const back = await pending(node, items.char!, { seller_id: rival, certificate: psa(cert), price: 400 })
  const { conflict, history } = await review(back.id)
  expect(conflict).toBeNull()
  expect(history).toMatchObject([
    { kind: 'listing', listing_id: earlier.id, seller: { id: node.accounts.plus }, price: 650, status: 'rejected' },
    { kind: 'sale', listing_id: null, seller: { id: node.accounts.plus }, price: 700, status: null, cancelled_at: null },
  ])
  const { body } = await operator<StoredCertificateAnswer>(node, 'GET', `/certificates?grader=PSA&cert=0${cert}`)
  expect(body.data).toMatchObject({ grader: 'PSA', cert, known: null, listings: 2, sales: 1, records: 0 })
  expect(body.data.history).toHaveLength(3)
})

test('the file of certificates replaces what was known, refuses bad rows alone, and shows what a listing contradicts', async () => {
  const [good, bad] = [newCert(), newCert()]
  const report = await certificatesCsv(
    [
      'Grader,cert,grade,item_id,label,qualifier,shelf',
      `PSA,${good},10,${items.char},PSA 10,,A`,
      `PSA,0${good},9,${items.char},,,A`,
      `XYZ,${bad},10,${items.char},,,A`,
      `PSA,${bad},10,999999,,,A`,
      `PSA,,10,${items.char},,,A`,
      `PSA,${bad},10,${items.char},shiny,,A`,
      `PSA,=1+1,10,x,,,A`,
    ].join('\n'),
  )
  expect(report.data).toMatchObject({ created: 1, updated: 0, refused: 6 })
  expect(
    report.data.rows.map(({ line, outcome, refused }) => [line, outcome, refused?.map(({ field, rule }) => `${field} ${rule}`) ?? null]),
  ).toEqual([
    [2, 'created', null],
    [3, 'refused', ['cert certificate_again']],
    [4, 'refused', ['grader one_of']],
    [5, 'refused', ['item_id unknown_id']],
    [6, 'refused', ['cert required']],
    [7, 'refused', ['label label']],
    [8, 'refused', [expect.stringContaining('cert'), expect.stringContaining('item_id')]],
  ])
  const json = await operator<CertificatesReport>(node, 'POST', '/certificates', {
    rows: [{ grader: 'PSA', cert: good, grade: '9', item_id: items.char, qualifier: 'OC' }, 5],
  })
  expect(json.body.data).toMatchObject({ created: 0, updated: 1, refused: 1 })
  const { id } = await pending(node, items.pika!, { certificate: psa(good) })
  expect(await review(id)).toMatchObject({
    known: { item_id: items.char, grade: '9', label: null, qualifier: 'OC' },
    differs: ['item_id', 'grade', 'qualifier'],
  })
  const { body } = await operator<StoredCertificateAnswer>(node, 'GET', `/certificates?grader=PSA&cert=${good}`)
  expect(body.data).toMatchObject({ known: { grade: '9', qualifier: 'OC' }, listings: 1, sales: 0, records: 0, history: [{ listing_id: id }] })
  expect((await sendCsv('grader,cert\nPSA,1\n')).status).toBe(422)
  expect((await sendCsv('')).status).toBe(422)
  expect((await operator(node, 'POST', '/certificates', { rows: [] })).status).toBe(422)
  const many = Array.from({ length: 10_001 }, (_, i) => `PSA,${i + 1},10,${items.char}`)
  expect((await sendCsv(`grader,cert,grade,item_id\n${many.join('\n')}`)).status).toBe(422)
  expect((await operator(node, 'GET', '/certificates?grader=PSA')).status).toBe(422)
})

test('a record carries a certificate if it is of one copy, over REST and GraphQL', async () => {
  const id = (await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Graded' })).body.data.id
  const path = `/collections/${id}/items`
  const cert = newCert()
  const refusedAdd = await plus(node, 'POST', path, { item_id: items.char, quantity: 2, certificate: psa(cert) })
  expect([refusedAdd.status, refusedAdd.body.error?.details]).toMatchObject([422, [{ field: 'quantity', rule: 'certificate_quantity' }]])
  expect((await plus(node, 'POST', path, { item_id: items.char, certificate: { grader: 'PSA', cert } })).body.error?.details?.[0]).toMatchObject({
    field: 'certificate.grade',
    rule: 'required',
  })
  const added = await plus<{ id: number }>(node, 'POST', path, { item_id: items.char, certificate: psa(`0${cert}`) })
  const record = added.body.data.id
  const certificate = { ...psa(cert), qualifier: null, subgrades: null }
  expect((await plus<object>(node, 'GET', `${path}/${record}`)).body.data).toMatchObject({ certificate })
  expect((await plus<object>(node, 'PATCH', `${path}/${record}`, { quantity: 2 })).status).toBe(422)
  expect((await plus<object>(node, 'PATCH', `${path}/${record}`, { certificate: { ...certificate, grade: '9' } })).body.data).toMatchObject({
    certificate: { grade: '9' },
  })
  const mutation = `mutation { updateCollectionItem(collectionId: ${id}, itemId: ${record}, input: { certificate: { grader: "BGS", cert: "12345678", grade: "9.5" } }) { certificate { grader grade } } }`
  expect((await ask<object>(node, mutation, { plan: 'plus' })).data).toEqual({
    updateCollectionItem: { certificate: { grader: 'BGS', grade: '9.5' } },
  })
  const both = await plus<object>(node, 'PATCH', `${path}/${record}`, { certificate: null, quantity: 2 })
  expect(both.body.data).toMatchObject({ certificate: null, quantity: 2 })
})

test('bad certificates are refused by name, never with a 5xx', async () => {
  const bad: unknown[] = [
    5,
    [],
    {},
    { grader: 'XYZ', cert: '1', grade: '1' },
    { grader: 'PSA', cert: '', grade: '1' },
    { grader: 'PSA', cert: '-', grade: '1' },
    { grader: 'PSA', cert: '1'.repeat(33), grade: '1' },
    { grader: 'PSA', cert: '1\u0000', grade: '1' },
    { grader: 'PSA', cert: '１２', grade: '1' },
    { grader: 'PSA', cert: 5, grade: '1' },
    { grader: 'PSA', cert: '1', grade: '' },
    { grader: 'PSA', cert: '1', grade: ' 1' },
    { grader: 'PSA', cert: '1', grade: '\uD800' },
    { grader: 'PSA', cert: '1', grade: '1', qualifier: 'x'.repeat(21) },
    { grader: 'PSA', cert: '1', grade: '1', subgrades: {} },
    { grader: 'PSA', cert: '1', grade: '1', subgrades: { corners: -1 } },
    { grader: 'PSA', cert: '1', grade: '1', subgrades: { corners: 'x' } },
    { grader: 'PSA', cert: '1', grade: '1', owner: 'x' },
  ]
  const { id } = await pending(node, items.char!)
  for (const certificate of bad) {
    const replies = [
      await create({ item_id: items.char, price: 5, certificate }),
      await create({ price: 5, certificate }),
      await plus(node, 'PATCH', `/listings/${id}`, { certificate }),
      await operator(node, 'PATCH', `/listings/${id}`, { certificate }),
    ]
    expect(
      replies.map(({ status }) => status),
      JSON.stringify(certificate),
    ).toEqual([422, 422, 422, 422])
    expect(replies[2]!.body.error!.details![0]!.field).toMatch(/^certificate/)
  }
  expect((await operator(node, 'GET', '/certificates?grader=PSA&cert=%00')).status).toBe(422)
  expect(
    (await create({ item_id: items.char, price: 5, certificate: { grader: 'PSA', cert: '000', grade: '10' } })).body.data.certificate!.cert,
  ).toBe('0')
})

test('a read-only key and lower plans cannot use certificates', async () => {
  const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, label: 'reads', read_only: true })
  const body = { item_id: items.char, price: 5, certificate: psa(newCert()) }
  expect((await plus(node, 'POST', '/listings', body, { key })).status).toBe(403)
  for (const key of [node.keys.starter, node.keys.professional]) {
    expect((await plus(node, 'POST', '/listings', body, { key })).status).toBe(403)
  }
})

test('of pairs of listings that two nodes put on sale at the same moment, one of each pair is active', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  const pairs = []
  const number = runs(200)
  for (let n = 0; n < number; n += 1) {
    const cert = newCert()
    const of = (seller_id: number) =>
      call(createListing, node.ctx, { seller_id, item_id: items.char!, title: `Slab ${cert}`, price: 100, certificate: psa(cert) })
    pairs.push({ cert, ids: [(await of(node.accounts.plus)).id, (await of(rival)).id] as const })
  }
  const outcomes: number[] = []
  for (let from = 0; from < pairs.length; from += 10) {
    const replies = pairs.slice(from, from + 10).flatMap(({ ids }) => [approve(ids[0], node), approve(ids[1], other)])
    outcomes.push(...(await Promise.all(replies)).map(({ status }) => status))
  }
  expect(outcomes.filter((status) => status === 200)).toHaveLength(number)
  expect(outcomes.filter((status) => status === 409)).toHaveLength(number)
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*)::int4 as count from listings where certificate->>'cert' = any(${pairs.map(({ cert }) => cert)}::text[])
    group by status order by status`.execute(node.db.kysely)
  expect(rows).toEqual([
    { status: 'active', count: number },
    { status: 'pending', count: number },
  ])
})

test('renewals of many listings on one node race publications on the other without a loss', { tags: 'slow' }, async () => {
  const pairs = []
  for (let n = 0; n < 20; n += 1) {
    const certificate = psa(newCert())
    pairs.push({
      expired: (await inStatus(node, 'expired', items.char!, { certificate })).id,
      pending: (await pending(node, items.char!, { seller_id: rival, certificate })).id,
    })
  }
  const [renewed, ...approved] = await Promise.all([
    plus<{ id: number; status: string }[]>(node, 'POST', '/listings/renew', { ids: pairs.map(({ expired }) => expired) }),
    ...pairs.map((pair) => approve(pair.pending, other)),
  ])
  expect(renewed.status, JSON.stringify(renewed.body)).toBe(200)
  expect(approved.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
  for (const [i, pair] of pairs.entries()) {
    const statuses = [(await stored(pair.expired)).status, (await stored(pair.pending)).status]
    expect([renewed.body.data[i]!.status, ...statuses]).toEqual(
      approved[i]!.status === 200 ? ['pending', 'pending', 'active'] : ['active', 'active', 'pending'],
    )
  }
})

test('a file of listings states certificates; what is known of one states item, grade and label, and two of one copy are not both on sale', async () => {
  const [ofFile, full, unknown, taken, refused] = [newCert(), newCert(), newCert(), newCert(), newCert()]
  await certificatesCsv(`grader,cert,grade,item_id,label\npsa,${ofFile},10,${items.char},PSA 10\n`)
  const first = await onSale(taken)
  const rows = [
    'item_id,price,quantity,grade,grader,cert,cert_grade,qualifier,subgrades',
    `,500,,,psa,${ofFile},,,`,
    `${items.pika},400,1,,CGC,${full},9.5,,9.5/10/-/9`,
    `,300,,,PSA,${unknown},10,,`,
    `${items.pika},300,,,PSA,${unknown},,,`,
    `${items.char},250,,,PSA,00${taken},10,,`,
    `${items.char},250,2,,PSA,${refused},10,,`,
    `${items.char},250,,,XYZ,${refused},10,,`,
    `${items.char},250,,,PSA,,10,,`,
    `${items.char},250,,,PSA,${refused},10,,a/b`,
    `${items.char},250,,,PSA,${refused},10,,1/2/3/4/5`,
    `${items.char},250,,PSA 9,PSA,${refused},10,,`,
    ',250,,,,,,,',
  ].join('\n')
  const importFile = (query = '', text = rows) =>
    send<ListingImport>(`${node.publicUrl}/api/v1/plus/listings/import${query}`, node.keys.plus, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'text/csv' },
    })
  const expected = [
    ['created', undefined],
    ['created', undefined],
    ['refused', ['certificate.cert', 'certificate_unknown']],
    ['refused', ['certificate.grade', 'required']],
    ['created', undefined],
    ['refused', ['quantity', 'certificate_quantity']],
    ['refused', ['grader', 'one_of']],
    ['refused', ['cert', 'certificate_text']],
    ['refused', ['subgrades', 'or_null']],
    ['refused', ['subgrades', 'or_null']],
    ['created', undefined],
    ['refused', ['row', 'at_least_one']],
  ]
  const outcomes = ({ rows }: ListingImport) => rows.map((row) => [row.outcome, row.refused?.map(({ field, rule }) => [field, rule])[0]])
  const rehearsed = await importFile('?dry_run=1')
  expect(outcomes(rehearsed.body.data)).toEqual(expected)
  const { body } = await importFile()
  expect(outcomes(body.data)).toEqual(expected)
  const ids = body.data.rows.flatMap(({ listing_id: id }) => id ?? [])
  const [byFile, cgc, second, other9] = await Promise.all(ids.map(stored))
  expect(byFile).toMatchObject({ item_id: items.char, certificate: { grader: 'PSA', cert: ofFile, grade: '10' } })
  expect(cgc!.certificate).toEqual({
    grader: 'CGC',
    cert: full,
    grade: '9.5',
    qualifier: null,
    subgrades: { centering: 9.5, corners: 10, edges: null, surface: 9 },
  })
  expect([byFile!.grade_id !== null, second!.grade_id, other9!.grade_id !== second!.grade_id]).toEqual([true, byFile!.grade_id, true])
  expect((await approve(second!.id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'certificate_active' })
  expect(await activeWith(taken)).toEqual([first])
  const exported = await fetch(`${node.publicUrl}/api/v1/plus/listings/export`, { headers: { authorization: `Bearer ${node.keys.plus}` } })
  const line = (await exported.text()).split('\n').find((one) => one.includes(`,${full},`))!
  expect(line.trim().endsWith(`,CGC,${full},9.5,,9.5/10/-/9`)).toBe(true)
})
