// The settings in the operator's document: defaults, invalid values rejected by name, and the effects of other values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { ConfigError } from '#settings.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

const DAY_MS = 86_400_000

test('defaults', () => {
  expect(readConfig({})).toMatchObject({
    port: 8080,
    operatorPort: 8081,
    host: '127.0.0.1',
    operatorHost: '127.0.0.1',
    apiProcesses: 1,
    databaseUrl: null,
    databaseListenUrl: null,
    databaseReplicaUrl: null,
    operatorToken: null,
    publicUrl: null,
    timeZone: 'Europe/Istanbul',
    logLevel: 'info',
    listingPeriodDays: 30,
    highlightDays: 7,
    commissionPercent: 10,
    rateLimits: { starter: 60, professional: 300, plus: 600, enterprise: 3000 },
    trustProxy: false,
    webhookRetryDelaysMs: [30_000, 300_000],
    webhookAllowCidrs: ['127.0.0.0/8', '::1/128'],
    imageAllowCidrs: [],
    webhookAllowHttp: true,
    sourceCurrencies: { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' },
    secretKey: null,
    demo: true,
    imageProxy: false,
    imageCacheMb: 2_048,
    marketNames: {},
    marketOrder: ['source_c', 'source_b', 'source_a', 'service'],
  })
  expect(readConfig({}).dataDir).toMatch(/\/data$/)
  expect(readConfig({ NODE_ENV: 'production' })).toMatchObject({ webhookAllowCidrs: [], webhookAllowHttp: false })
  const opened = readConfig({ NODE_ENV: 'production', WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8,fd00::/8', WEBHOOK_ALLOW_HTTP: '1' })
  expect(opened).toMatchObject({ webhookAllowCidrs: ['10.0.0.0/8', 'fd00::/8'], imageAllowCidrs: ['10.0.0.0/8', 'fd00::/8'], webhookAllowHttp: true })
})

test('all accepted forms of values', () => {
  expect(readConfig({ RATE_LIMITS: 'off' }).rateLimits).toBe(null)
  expect(readConfig({ RATE_LIMITS: 'plus=5' }).rateLimits).toEqual({ starter: 60, professional: 300, plus: 5, enterprise: 3000 })
  expect(readConfig({ SOURCE_CURRENCIES: 'source_b=GBP' }).sourceCurrencies).toMatchObject({ service: 'TRY', source_a: 'USD', source_b: 'GBP' })
  expect(readConfig({ MARKET_ORDER: 'service, source_a' }).marketOrder).toEqual(['service', 'source_a'])
  expect(readConfig({ MARKET_NAMES: 'source_a=PriceCharting, source_b = Cardmarket (EU) ,service=Kart Evi' }).marketNames).toEqual({
    source_a: 'PriceCharting',
    source_b: 'Cardmarket (EU)',
    service: 'Kart Evi',
  })
  expect(readConfig({ WEBHOOK_RETRY_DELAYS: '1s,2h' }).webhookRetryDelaysMs).toEqual([1_000, 7_200_000])
  expect(readConfig({ COMMISSION_PERCENT: '12.5' }).commissionPercent).toBe(12.5)
  for (const proxies of ['loopback', '10.0.0.0/8, ::1', '192.0.2.1']) expect(readConfig({ TRUST_PROXY: proxies }).trustProxy).toBe(proxies)
  expect([readConfig({ TRUST_PROXY: '1' }).trustProxy, readConfig({ TRUST_PROXY: '0' }).trustProxy]).toEqual([true, false])
})

test('REDIS_URL is refused, with what replaced it', () => {
  expect(() => readConfig({ REDIS_URL: 'redis://host:6379' })).toThrow(/^REDIS_URL is no longer used: .*PostgreSQL/)
  expect(() => readConfig({ REDIS_URL: '' })).not.toThrow()
})

test.each([
  ['PORT', ['abc', '-1', '65536', '1.5', '0x10']],
  ['OPERATOR_PORT', ['65536']],
  [
    'DATABASE_URL',
    [
      'mysql://host/db',
      'host',
      'postgresql://a:1,b:x/db',
      'postgresql://a,,b/db',
      'postgresql://a:0,b/db',
      'postgresql://a,b/db?target_session_attrs=standby',
      'postgresql://a/db?target_session_attrs=primary',
    ],
  ],
  ['OPERATOR_TOKEN', ['x'.repeat(23)]],
  ['API_PROCESSES', ['0', '-1', '1.5', '65', 'auto']],
  ['IMAGE_PROXY', ['1', 'yes', 'ON']],
  ['IMAGE_CACHE_MB', ['0', '15', '1.5', '2GB']],
  ['PUBLIC_URL', ['example.com', 'ftp://example.com']],
  ['TIME_ZONE', ['Mars/Olympus', '+3 hours']],
  ['LOG_LEVEL', ['loud', 'INFO']],
  ['LISTING_PERIOD_DAYS', ['0', '1.5', 'month']],
  ['HIGHLIGHT_DAYS', ['0', '-7', 'week']],
  ['COMMISSION_PERCENT', ['-1', '100.01', '10%']],
  ['RATE_LIMITS', ['on', 'gold=5', 'plus=0', 'plus=-1', 'plus=1=2', 'plus']],
  ['WEBHOOK_RETRY_DELAYS', ['30s', '30s,5m,1h', '30,300', 'soon,later']],
  ['WEBHOOK_ALLOW_CIDRS', ['localhost', '10.0.0.0', '10.0.0.0/33']],
  ['WEBHOOK_ALLOW_HTTP', ['maybe', 'yes']],
  [
    'CORS_ORIGINS',
    [
      'shop.example',
      'https://shop.example/',
      'https://shop.example/page',
      'https://Shop.example',
      'ftp://shop.example',
      '*, https://shop.example',
      'https://shop.example:443',
      'null',
    ],
  ],
  ['TRUST_PROXY', ['everyone', '10.0.0.0/33', 'loopback,nobody']],
  ['SOURCE_CURRENCIES', ['source_a', 'source_d=USD', 'service=USD', 'source_a=usd']],
  [
    'MARKET_NAMES',
    [
      'source_d=Another',
      'source_a=One,source_a=Two',
      'source_a=One,source_b=One',
      'source_a',
      'source_a=',
      'source_a= ',
      'SOURCE_A=One',
      'source_a=One,',
      `source_a=${'x'.repeat(41)}`,
      'source_a=\u200b',
      'source_a=a\u202eb',
      'source_a=a\nb',
    ],
  ],
  ['CATALOGUE_LANGUAGES', ['EN', 'en,,ja', 'en,en', 'english', ',']],
  ['MARKET_ORDER', ['source_d', 'source_a,,source_b', 'source_a;source_b', 'source_a,source_b,source_a', 'SOURCE_A', ',']],
  ['SECRET_KEY', ['x'.repeat(23)]],
  ['NOTIFY_WEBHOOK_URL', ['ftp://shop.example', 'https://shop.example']],
  ['NOTIFY_WEBHOOK_SECRET', ['x'.repeat(23)]],
  ['SMTP_URL', ['https://mail.example', 'smtp://', 'mail.example']],
  ['NOTIFY_EMAIL', ['ops', 'ops@shop.example,', Array.from({ length: 21 }, (_, i) => `a${i}@shop.example`).join()]],
  ['NOTIFY_EMAIL_FROM', ['Mintmark <ops@shop.example>']],
  ['NOTIFY_QUIET_HOURS', ['22:00', '22-7', '24:00-07:00', '22:00-22:00']],
  ['NOTIFY_LANGUAGE', ['de']],
  ['MINTMARK_DEMO', ['maybe']],
  ['MINTMARK_UNKNOWN', ['1']],
])('%s is rejected by name', (name, values) => {
  for (const value of values) {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} .*\\S`))
  }
})

test('the parts of a channel of notifications are set together', () => {
  const email = { SMTP_URL: 'smtp://mail.example', NOTIFY_EMAIL: 'ops@shop.example', NOTIFY_EMAIL_FROM: 'mintmark@shop.example' }
  for (const name of Object.keys(email)) {
    expect(() => readConfig({ ...email, [name]: '' })).toThrow(/^SMTP_URL, NOTIFY_EMAIL and NOTIFY_EMAIL_FROM must be set together/)
  }
  expect(readConfig({ ...email, NOTIFY_QUIET_HOURS: '22:00-07:30' }).notify).toMatchObject({
    webhook: null,
    email: { quietHours: { from: 1320, to: 450 } },
  })
  expect(() => readConfig({ NOTIFY_WEBHOOK_URL: 'https://shop.example' })).toThrow(
    /^NOTIFY_WEBHOOK_URL and NOTIFY_WEBHOOK_SECRET must be set together/,
  )
  expect(() => readConfig({ NOTIFY_WEBHOOK_SECRET: 'too short' })).not.toThrow(/too short/)
})

test('several processes require different ports', () => {
  expect(() => readConfig({ API_PROCESSES: '2', PORT: '80', OPERATOR_PORT: '80' })).toThrow(/^OPERATOR_PORT must differ from PORT/)
  expect(readConfig({ API_PROCESSES: '2', PORT: '0', OPERATOR_PORT: '0' })).toMatchObject({ apiProcesses: 2, alone: false })
  expect(readConfig({})).toMatchObject({ alone: true })
})

test('the image proxy requires the public URL', () => {
  for (const exposed of [{ HOST: '0.0.0.0' }, { TRUST_PROXY: '1' }]) {
    expect(() => readConfig({ IMAGE_PROXY: 'on', ...exposed })).toThrow(/^IMAGE_PROXY is on but PUBLIC_URL, the prefix of image URLs, is not set/)
    expect(readConfig({ IMAGE_PROXY: 'on', PUBLIC_URL: 'https://cards.example', ...exposed }).imageProxy).toBe(true)
    expect(readConfig(exposed).imageProxy).toBe(false)
  }
  expect(readConfig({ IMAGE_PROXY: 'on' }).imageProxy).toBe(true)
})

describe('a service in another time zone', () => {
  let node: TestNode

  beforeAll(async () => {
    const env = {
      TIME_ZONE: 'America/New_York',
      HIGHLIGHT_DAYS: '2',
      LISTING_PERIOD_DAYS: '3',
      PUBLIC_URL: 'https://prices.example/',
      WEBHOOK_ALLOW_HTTP: '0',
    }
    node = await startTestNode({ env })
    const feed = [
      { type: 'category', market: 'service', ref: 't', name: 'Set', game: 'pokemon', parent: null, image: null },
      {
        type: 'item',
        market: 'service',
        ref: 't:1',
        name: 'Only Item',
        code: '1/1',
        genre: 'single',
        game: 'pokemon',
        category: 't',
        images: [],
        attributes: [],
        groups: [],
        details: {},
        foreign_ids: [],
      },
    ]
    await importText(node, 'mintmark-ndjson', feed.map((line) => JSON.stringify(line)).join('\n'))
  })

  afterAll(() => node.close())

  test('has its own periods, local times and address', async () => {
    type Row = Record<'id', number> & Record<'published_at' | 'expires_at' | 'highlighted_until', string>
    const api = <T>(path: string, json?: unknown, method?: string) =>
      send<T>(`${node.publicUrl}/api/v1${path}`, node.keys.plus, { ...(json !== undefined && { json }), ...(method && { method }) })
    const operator = <T>(path: string, json: unknown) => send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })
    const item_id = (await api<Row[]>('/items')).body.data[0]!.id
    const { id } = (await operator<Row>('/listings', { seller_id: node.accounts.plus, item_id, title: 'Only', price: 10 })).body.data
    const approved = (await operator<Row>(`/listings/${id}/approve`, {})).body.data
    expect(Date.parse(approved.expires_at) - Date.parse(approved.published_at)).toBe(3 * DAY_MS)
    expect((await api(`/plus/make-highlight?id=${id}`, {})).status).toBe(200)
    const own = (await api<Row[]>('/plus/my-listings')).body.data[0]!
    expect(own.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-0[45]:00$/)
    const highlightedMs = Date.parse(own.highlighted_until) - node.clock.now().getTime()
    expect(highlightedMs).toBeGreaterThan(2 * DAY_MS - 60_000)
    expect(highlightedMs).toBeLessThanOrEqual(2 * DAY_MS)
    expect(rulesIn((await api('/plus/webhook', { url: 'http://example.com/' }, 'PUT')).body.error)).toBe('url url https://')
    const document = (await (await fetch(`${node.publicUrl}/openapi.json`)).json()) as { servers: { url: string }[] }
    expect(document.servers).toEqual([{ url: 'https://prices.example' }])
  })
})
