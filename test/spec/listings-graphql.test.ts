// Listing writes over GraphQL and REST: the same outcome, status, code and message for all statuses, actions, owners and plans.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Plan } from '#core/plans.ts'
import { ask } from '../graphql/client.ts'
import { type Change, inStatus, makeCatalogue, operator, plus, type Status } from '../market/kit.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { casesOf, rowsOf } from '../support/runs.ts'

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
})

afterAll(() => node.close())

interface Write {
  name: string
  rest: [method: string, path: (id: number | string) => string, body?: object]
  graphql: string
  input?: object
}

const RESULT = '{ success message id price status }'
const set = (action: string): Write => ({
  name: `status ${action}`,
  rest: ['POST', (id) => `/listings/${id}/status?action=${action}`],
  graphql: `mutation ($id: ID!) { done: setListingStatus(listingId: $id, action: "${action}") ${RESULT} }`,
})
const reprice = (price: number): Write => ({
  name: `price ${price}`,
  rest: ['PATCH', (id) => `/listings/${id}/price`, { price }],
  graphql: `mutation ($id: ID!) { done: updateListingPrice(listingId: $id, price: ${price}) ${RESULT} }`,
})
const update = (name: string, rest: object, input: object): Write => ({
  name,
  rest: ['PATCH', (id) => `/listings/${id}`, rest],
  graphql: `mutation ($id: ID!, $input: ListingInput!) { done: updateListing(listingId: $id, input: $input) ${RESULT} }`,
  input,
})

const WRITES: Write[] = [
  reprice(42.5),
  reprice(0.999),
  reprice(1.005),
  update('price alone', { price: 43 }, { price: 43 }),
  update('price and stock', { quantity: 0, price: 44 }, { quantity: 0, price: 44 }),
  update('a negative stock', { quantity: -1 }, { quantity: -1 }),
  update('a blank SKU', { sku: ' ' }, { sku: ' ' }),
  update('no SKU', { sku: null }, { sku: null }),
  update('stock and content', { quantity: 7, title: 'Seven' }, { quantity: 7, title: 'Seven' }),
  update('content', { title: 'New', min_offer_price: 2, offers_enabled: true }, { title: 'New', minOfferPrice: 2, offersEnabled: true }),
  update(
    'pictures',
    { images: ['https://a.example/2.png', 'https://a.example/1.png'] },
    { images: ['https://a.example/2.png', 'https://a.example/1.png'] },
  ),
  update('no pictures', { images: [] }, { images: [] }),
  update('an invalid address of a picture', { images: ['ftp://a.example/1.png'] }, { images: ['ftp://a.example/1.png'] }),
  update('an offer above the price', { min_offer_price: 1000 }, { minOfferPrice: 1000 }),
  update('a title too long', { title: 'x'.repeat(256) }, { title: 'x'.repeat(256) }),
  update('nothing', {}, {}),
  set('pause'),
  set('publish'),
  set('burn'),
]
const STATUSES: Status[] = ['pending', 'active', 'paused', 'rejected', 'expired', 'sold']
/** Callers that are rejected come first, so that the listings are unchanged for the next. */
const CALLERS = [
  { plan: 'professional', whose: "another's" },
  { plan: 'enterprise', whose: "another's" },
  { plan: 'plus', whose: 'own' },
] as const satisfies { plan: Plan; whose: string }[]

/** Both outcomes in the same form: GraphQL's messages have REST's names in camel case, and its input has no shippingPayer. */
const outcome = (status: number, code: string, message: string) => ({
  status,
  code,
  message: message
    .replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase())
    .replace(/listing \d+/gi, 'listing N')
    .replace(/^body(.* )shippingPayer, /, 'input$1'),
})

const overRest = async (write: Write, id: number | string, plan: Plan) => {
  const [method, path, body] = write.rest
  const reply = await plus<Partial<Change>>(node, method, path(id), body, { key: node.keys[plan] })
  if (reply.body.error) return outcome(reply.status, reply.body.error.code, reply.body.error.message)
  return { message: reply.body.message, status: reply.body.data.status, price: reply.body.data.price }
}

const overGraphql = async (write: Write, id: number | string, plan: Plan) => {
  type Done = { done: { success: boolean; message: string; id: string; price: number; status: string } | null }
  const reply = await ask<Done>(node, write.graphql, { plan, variables: { id: String(id), ...(write.input && { input: write.input }) } })
  const [error] = reply.errors ?? []
  if (error) {
    expect(reply.data?.done ?? null).toBeNull()
    return outcome(error.extensions.status, error.extensions.code, error.message)
  }
  const { success, message, status, price } = reply.data.done!
  expect({ success, id: reply.data.done!.id }).toEqual({ success: true, id: String(id) })
  return { message, status, price: write.name.startsWith('status') ? undefined : price }
}

test.each(rowsOf(WRITES, 4))('$name: equals REST from every status, for owners, others and plans', async (write) => {
  for (const status of casesOf(STATUSES, WRITES.indexOf(write))) {
    const [one, other] = [await inStatus(node, status, item), await inStatus(node, status, item)]
    for (const { plan, whose } of CALLERS) {
      const rest = await overRest(write, one.id, plan)
      const graphql = await overGraphql(write, other.id, plan)
      expect(graphql, `${write.name} of ${whose} listing, ${status}, ${plan}`).toEqual(rest)
      const stored = await Promise.all([one, other].map(({ id }) => operator(node, 'GET', `/listings/${id}`)))
      // The tag counts changes, and a worker may have ended the period of one of the listings.
      const [a, b] = stored.map(({ body: { data } }) => ({ ...data, ...SAME, etag: '' }))
      expect(b).toEqual(a)
    }
  }
})

/** Fields in which two listings differ even after the same writes. */
const SAME = {
  id: 0,
  title: '',
  slug: '',
  approved_at: '',
  waiting_since: '',
  published_at: '',
  expires_at: '',
  created_at: '',
  updated_at: '',
  changed_since_approval: null,
}

test.each(['999999999', 'abc', '99999999999999999999'])('the id %s', async (id) => {
  for (const write of WRITES) {
    const [rest, graphql] = [await overRest(write, id, 'plus'), await overGraphql(write, id, 'plus')]
    const { status, code } = rest as { status: number; code: string }
    expect(graphql).toMatchObject({ status, code })
    expect({ status, code }).toEqual({ status: 422, code: 'PLUS_LISTING_ERROR' })
  }
})
