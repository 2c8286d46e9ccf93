// Messages in Turkish for callers that prefer it: errors, refused rows and confirmations over REST, GraphQL and the operator API; all else is the same.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MESSAGES } from '#core/problem-texts/messages.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
})
afterAll(() => node.close())

const TURKISH = { 'accept-language': 'tr-TR,tr;q=0.9,en-US;q=0.8,en;q=0.7' }
const api = (path: string, { headers = {}, ...sending }: Parameters<typeof send>[2] = {}, key: string | null = node.keys.plus) =>
  send(`${node.publicUrl}/api/v1${path}`, key, { ...sending, headers })
const operator = (method: string, path: string, json: unknown, headers = {}) =>
  send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json, headers })
const graphql = (query: string, headers = {}) => send(`${node.publicUrl}/graphql`, node.keys.plus, { method: 'POST', json: { query }, headers })
const languageOf = ({ headers }: Reply) => headers.get('content-language')

test.each([
  ['tr', 'tr'],
  ['tr-TR', 'tr'],
  ['de, tr;q=0.5, en;q=0.4', 'tr'],
  ['en-GB,en;q=0.9,tr;q=0.8', null],
  ['tr;q=0', null],
  ['de', null],
  ['*', null],
  ['tr;q=x,,;;', null],
])('Accept-Language: %s', async (header, language) => {
  const reply = await api('/items?per_page=0', { headers: { 'accept-language': header } })
  expect(reply.status).toBe(422)
  expect(languageOf(reply)).toBe(language)
  expect(reply.body.error!.message).toBe(
    language === 'tr' ? 'per_page 1 ile 100 arasında bir tam sayı olmalı' : 'per_page must be a whole number between 1 and 100',
  )
})

test('only the messages differ', async () => {
  const path = '/items?per_page=0&page=x'
  const [english, turkish] = [await api(path), await api(path, { headers: TURKISH })]
  const rest = ({ body: { error } }: Reply) => [error!.code, error!.details!.map((details) => ({ ...details, message: '' }))]
  expect(rest(turkish)).toEqual(rest(english))
  expect(turkish.body.error!.details!.map(({ message }) => message)).toEqual([
    'en az 1 olan bir tam sayı olmalı',
    '1 ile 100 arasında bir tam sayı olmalı',
  ])
  expect(turkish.headers.get('vary')).toContain('accept-language')
})

test.each([
  ['no credential', () => api('/items', { headers: TURKISH }, null), 401],
  ['an unknown key', () => api('/items', { headers: TURKISH }, `mintmark_${'a'.repeat(40)}`), 401],
  ['a lower plan', () => api('/plus/listings', { headers: TURKISH }, node.keys.starter), 403],
  ['a missing item', () => api('/items/999999', { headers: TURKISH }), 404],
  ['no such path', () => api('/nothing', { headers: TURKISH }), 404],
  ['invalid JSON', () => api('/plus/webhook', { method: 'PUT', body: '{', headers: { ...TURKISH, 'content-type': 'application/json' } }), 400],
])('%s', async (_name, ask, status) => {
  const reply = await ask()
  expect([reply.status, languageOf(reply)]).toEqual([status, 'tr'])
  expect(reply.body.error!.message).toMatch(/[çğıöşüİ]/)
})

test('confirmations, and rows that are refused', async () => {
  const saved = await api('/plus/listings/columns', { method: 'PUT', json: { columns: [] }, headers: TURKISH })
  expect(saved.body).toMatchObject({ success: true, data: { columns: [] }, message: 'Sütunlar kaydedildi' })
  const job = { rows: [{ listing_id: 999_999, price: 5 }] }
  const { body } = await api('/plus/price-jobs', { method: 'POST', json: job, headers: TURKISH })
  expect(body).toMatchObject({
    data: { rows: [{ refused: [{ field: 'listing_id', message: '999999 numaralı ilan bulunamadı', rule: 'not_found' }] }] },
    message: 'Fiyat işi planlandı',
  })
  // Long lists are written in slices.
  const long = { rows: Array.from({ length: 1_500 }, (_, i) => ({ listing_id: 999_999 + i, price: 5 })) }
  const sliced = await api('/plus/price-jobs', { method: 'POST', json: long, headers: TURKISH })
  const data = sliced.body.data as { rows: { refused: { message: string }[] }[] }
  expect([sliced.body.message, data.rows.at(-1)!.refused[0]!.message]).toEqual(['Fiyat işi planlandı', '1001498 numaralı ilan bulunamadı'])
})

test('the operator API', async () => {
  const created = await operator('POST', '/accounts', { name: 'Kart evi', plan: 'plus' }, TURKISH)
  expect(created.body.message).toBe('Hesap oluşturuldu')
  const missing = await operator('POST', '/accounts', {}, TURKISH)
  expect(missing.body.error!.message).toMatch(/^name gerekli/)
})

test('GraphQL: errors with their extensions, and confirmations; errors of the document itself stay in English', async () => {
  const wrong = await graphql('{ items(first: 0) { nodes { name } } }', TURKISH)
  expect(wrong.body).toMatchObject({ errors: [{ message: expect.stringMatching(/[çğıöşü]/) as string, extensions: { code: 'VALIDATION_ERROR' } }] })
  expect(languageOf(wrong)).toBe('tr')
  const { body } = await graphql('mutation { deleteWatches { message } }', TURKISH)
  expect(body).toMatchObject({ data: { deleteWatches: { message: 'Takipler silindi' } } })
  const syntax = await graphql('{ nothing', TURKISH)
  expect(JSON.stringify(syntax.body)).toContain('Syntax Error')
})

test('a text of a user that happens to be a confirmation stays as it is', async () => {
  const { body } = await operator('POST', '/collections', { account_id: node.accounts.plus, name: 'Record added' }, TURKISH)
  expect(body).toMatchObject({ data: { name: 'Record added' }, message: 'Koleksiyon oluşturuldu' })
})

test('every confirmation of the table is sent by some operation', () => {
  const sources = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith('.ts') && file.name !== 'messages.ts')
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
    .join('\n')
  expect(Object.keys(MESSAGES).filter((text) => !sources.includes(`'${text}'`))).toEqual([])
})
