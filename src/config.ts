// Reads the environment, in this file only: every setting is checked and passed on in one frozen object.
import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import { parseDuration } from '#core/duration.ts'
import { isLoopback } from '#core/network/loopback.ts'
import { isMarket, type Market, type MarketNames, MARKETS } from '#core/markets.ts'
import { isOrigin } from '#core/origins.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { type Speedup, SPEEDUPS } from '#core/speedups.ts'
import { VISIBLE_LINE } from '#core/text.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'

export interface Config {
  port: number
  operatorPort: number
  host: string
  operatorHost: string
  /** listener of metrics alone; null for none */
  metricsPort: number | null
  metricsHost: string
  /** processes that serve the public listener on one port; 1: the program is one process */
  apiProcesses: number
  dataDir: string
  /** null: the program starts its own PostgreSQL under `dataDir` */
  databaseUrl: string | null
  /** connection string for LISTEN if it must differ from `databaseUrl`; null: `databaseUrl` is used */
  databaseListenUrl: string | null
  /** streaming replica of `databaseUrl` for large reads, null: the primary serves them */
  databaseReplicaUrl: string | null
  /** whether a single process uses the database: it is embedded, and `apiProcesses` is 1 */
  alone: boolean
  /** bootstrap operator token, null when none is set */
  operatorToken: string | null
  /** public base URL of the public listener, without a trailing slash; null: the address it listens on */
  publicUrl: string | null
  /** whether responses contain image URLs below `publicUrl`, where this service fetches and caches the images */
  imageProxy: boolean
  /** disk space for cached images in `dataDir` */
  imageCacheMb: number
  /** folder of catalogue dumps, or where they are written before they are uploaded to `dumpsS3` */
  dumpsDir: string
  /** bucket that stores dumps instead of `dumpsDir`, null for none */
  dumpsS3: BucketSettings | null
  /** folder of archived months of the price history and the audit log, or where they are written before they are uploaded to `dumpsS3` */
  archiveDir: string
  /** months of the price history before the current one that stay in the database, 0: all */
  priceArchiveMonths: number
  /** months of the audit log before the current one that stay in the database, 0: all */
  auditArchiveMonths: number
  /** retention of the audit log, 0: forever */
  auditLogDays: number
  /** retention of webhook events and their delivery attempts */
  webhookLogDays: number
  /** hour of the day, in `timeZone`, at which a dump is made; null: only on demand */
  dumpHour: number | null
  /** IANA zone of the local times in responses of Plus endpoints */
  timeZone: string
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  listingPeriodDays: number
  highlightDays: number
  commissionPercent: number
  /** requests a minute by plan, null: no limits */
  rateLimits: Record<Plan, number> | null
  /** whether X-Forwarded-For is trusted: true for one proxy in front, text for the addresses of proxies */
  trustProxy: boolean | string
  /** origins whose pages may read responses of the public listener, `*` for any */
  corsOrigins: '*' | readonly string[]
  sourceCurrencies: Record<Market, string>
  /** display names of the markets */
  marketNames: MarketNames
  /** markets whose prices are shown for an item without prices in its own market, in order; a market not in the list must be requested */
  marketOrder: readonly Market[]
  /** languages of cards in the order in which searches show them */
  catalogueLanguages: readonly string[]
  /** thresholds of the rules that hold prices */
  priceRules: PriceRules
  /** days for which the price history is kept, 0: forever */
  priceHistoryDays: number
  /** optimisations that are disabled, for benchmarks (docs/benchmarks.md) */
  without: ReadonlySet<Speedup>
  /** minutes between writes of the start file, from which a node loads its memory at start; 0: never */
  startFileMinutes: number
  /** memory for cached item JSON */
  readyBytesMb: number
  /** whether `serve` loads the demo into an empty database */
  demo: boolean
  /** why the demo may not be created with these settings, null if it may */
  demoRefusal: string | null
  production: boolean
  /** delays before the second and the third attempt to deliver a webhook */
  webhookRetryDelaysMs: readonly number[]
  /** address ranges that webhooks may reach although they are not public */
  webhookAllowCidrs: readonly string[]
  /** the same for images: loopback is opened only for trying out webhooks */
  imageAllowCidrs: readonly string[]
  webhookAllowHttp: boolean
  /** key that encrypts webhook secrets; null: one generated in `dataDir` */
  secretKey: string | null
}

/** A bucket of an S3-compatible store. */
export interface BucketSettings {
  /** URL of the bucket, with an optional prefix of its keys, such as `https://s3.example/bucket/cards` */
  url: string
  accessKey: string
  secretKey: string
  region: string
}

/** A setting is missing or invalid; the message names it and says what is allowed. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** A checked setting: its default, and how its text is read; `read` throws an error that says what is allowed. */
interface Setting<T> {
  fallback: T
  about: string
  read: (text: string) => T
}

const NO_SPEEDUPS: ReadonlySet<Speedup> = new Set()
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function setting<T>(about: string, fallback: T, read: (text: string) => T): Setting<T> {
  return { about, fallback, read }
}

function integerBetween(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < from || value > to) throw new Error(`a whole number from ${from} to ${to}`)
    return value
  }
}

function decimal(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+(\.\d+)?$/.test(text) || value < from || value > to) throw new Error(`a number from ${from} to ${to}`)
    return value
  }
}

function oneOf<T extends string>(values: readonly T[]): (text: string) => T {
  return (text) => {
    if (!(values as readonly string[]).includes(text)) throw new Error(`one of ${values.join(', ')}`)
    return text as T
  }
}

const flag = (text: string): boolean => {
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new Error('1 or 0')
}

function url(protocols: readonly string[]): (text: string) => string {
  return (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new Error(`a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    }
    return text.replace(/\/$/, '')
  }
}

function bucketUrl(text: string): string {
  const { protocol, pathname, username, search, hash } = URL.canParse(text) ? new URL(text) : new URL('none:')
  const isAddress = protocol === 'https:' || protocol === 'http:'
  if (!isAddress || !/^(\/[^/]+)+\/?$/.test(pathname) || username !== '' || search !== '' || hash !== '') {
    throw new Error('the URL of a bucket with an optional prefix, such as https://s3.example/bucket/cards, without keys')
  }
  return text.replace(/\/$/, '')
}

function region(text: string): string {
  if (!/^[a-z0-9-]{1,40}$/.test(text)) throw new Error('a region such as us-east-1')
  return text
}

/** The bucket of the dumps, null if none is set. @throws ConfigError if only a part of its address and keys is set */
function dumpBucket(url: string | null, accessKey: string, secretKey: string, bucketRegion: string): BucketSettings | null {
  const names = ['DUMPS_S3_URL', 'DUMPS_S3_ACCESS_KEY', 'DUMPS_S3_SECRET_KEY']
  const missing = names.filter((_name, i) => !([url, accessKey, secretKey] as const)[i])
  if (missing.length === names.length) return null
  if (missing.length > 0) throw new ConfigError(`${missing.join(' and ')} must be set: dumps in a bucket need ${names.join(', ')}`)
  return Object.freeze({ url: url!, accessKey, secretKey, region: bucketRegion })
}

function corsOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return '*'
  if (text === 'none') return []
  const origins = text.split(',').map((part) => part.trim())
  if (!origins.every(isOrigin)) throw new Error('*, none, or origins such as https://shop.example,http://localhost:5173')
  return Object.freeze(origins)
}

/** Checking and explaining prices uses the latest months, so those are never archived. */
const archiveMonths = monthsOrNone(5)
/** The usual wait for approval is computed from the decisions of the last 30 days. */
const auditArchiveMonths = monthsOrNone(2)

/** 0, or at least `min` months. */
function monthsOrNone(min: number): (text: string) => number {
  return (text) => {
    const months = integerBetween(0, 1200)(text)
    if (months > 0 && months < min) throw new Error(`0 or a whole number from ${min} to 1200`)
    return months
  }
}

function dumpHour(text: string): number | null {
  if (text === 'off') return null
  if (!/^(1?\d|2[0-3])$/.test(text)) throw new Error('off, or a whole number from 0 to 23')
  return Number(text)
}

function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new Error('an IANA time zone such as Europe/Istanbul')
  }
}

function rateLimits(text: string): Record<Plan, number> | null {
  if (text === 'off') return null
  const limits = { ...DEFAULT_RATE_LIMITS }
  for (const part of text.split(',')) {
    const [plan, count, ...rest] = part.trim().split('=')
    if (!(PLANS as readonly string[]).includes(plan!) || !/^[1-9]\d{0,8}$/.test(count ?? '') || rest.length > 0) {
      throw new Error('off, or pairs such as starter=60,professional=300,plus=600,enterprise=3000')
    }
    limits[plan as Plan] = Number(count)
  }
  return limits
}

function speedups(text: string): ReadonlySet<Speedup> {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (!names.every((name) => (SPEEDUPS as readonly string[]).includes(name))) throw new Error(`a list of ${SPEEDUPS.join(', ')}`)
  return new Set(names as Speedup[])
}

function currencies(text: string): Record<Market, string> {
  const result = { ...DEFAULT_CURRENCIES }
  for (const part of text.split(',')) {
    const [market, currency, ...rest] = part.trim().split('=')
    if (!isMarket(market) || market === 'service' || !/^[A-Z]{3}$/.test(currency ?? '') || rest.length > 0) {
      throw new Error(`pairs of ${MARKETS.slice(1).join(', ')} and a currency, such as source_a=USD,source_b=EUR`)
    }
    result[market] = currency!
  }
  return result
}

function marketOrder(text: string): readonly Market[] {
  const order = text.split(',').map((part) => part.trim())
  if (!order.every(isMarket) || new Set(order).size < order.length) {
    throw new Error(`a list of ${MARKETS.join(', ')}, each at most once, such as ${DEFAULT_MARKET_ORDER.join(',')}`)
  }
  return Object.freeze(order)
}

function languages(text: string): readonly string[] {
  const order = text.split(',').map((part) => part.trim())
  if (!order.every((code) => /^[a-z]{2}(-[a-z]{2})?$/.test(code)) || new Set(order).size < order.length) {
    throw new Error(`a list of language codes, each at most once, such as ${DEFAULT_LANGUAGES.slice(0, 3).join(',')}`)
  }
  return Object.freeze(order)
}

const MAX_NAME_LENGTH = 40
const VISIBLE = new RegExp(VISIBLE_LINE, 'u')

function marketNames(text: string): MarketNames {
  const names = new Map<Market, string>()
  for (const part of text.split(',')) {
    const [code, name] = part.split('=', 2).map((side) => side.trim())
    const isName = name !== undefined && name.length <= MAX_NAME_LENGTH && VISIBLE.test(name) && ![...names.values()].includes(name)
    if (!isMarket(code) || names.has(code) || !isName) {
      throw new Error(
        `pairs of ${MARKETS.join(', ')}, each at most once, and a unique name of at most ${MAX_NAME_LENGTH} characters, ` +
          'such as source_a=PriceCharting,source_b=Cardmarket',
      )
    }
    names.set(code, name)
  }
  return Object.freeze(Object.fromEntries(names))
}

function retryDelays(text: string): readonly number[] {
  const delays = text.split(',').map((part) => parseDuration(part.trim()))
  if (delays.length !== 2 || delays.includes(null)) throw new Error('two durations such as 30s,5m')
  return delays as number[]
}

function cidrs(text: string): readonly string[] {
  if (text === 'none') return []
  const ranges = text.split(',').map((part) => part.trim())
  if (!ranges.every((range) => ipaddr.isValidCIDR(range))) {
    throw new Error('none, or address ranges such as 10.0.0.0/8,fd00::/8')
  }
  return ranges
}

const PROXY_GROUPS: readonly string[] = ['loopback', 'linklocal', 'uniquelocal']

function trustProxy(text: string): boolean | string {
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  const proxies = text.split(',').map((part) => part.trim())
  if (!proxies.every((proxy) => PROXY_GROUPS.includes(proxy) || ipaddr.isValid(proxy) || ipaddr.isValidCIDR(proxy))) {
    throw new Error('1, 0, or addresses of proxies such as loopback,10.0.0.0/8')
  }
  return text
}

const DEFAULT_RATE_LIMITS: Record<Plan, number> = { starter: 60, professional: 300, plus: 600, enterprise: 3000 }
const DEFAULT_CURRENCIES: Record<Market, string> = { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' }

const DEFAULT_LANGUAGES: readonly string[] = ['en', 'ja', 'fr', 'de', 'it', 'es', 'pt', 'ko', 'zh', 'id', 'th']
const DEFAULT_MARKET_ORDER: readonly Market[] = ['source_c', 'source_b', 'source_a', 'service']

const text = (value: string): string => value
const postgresUrl = (value: string): string => {
  readDatabaseAddress(value)
  return value
}
const writableUrl = (value: string): string => {
  if (readDatabaseAddress(value).wanted === 'standby') throw new Error('a URL whose target_session_attrs is read-write or any')
  return value
}

/** Every setting by its environment name; the operator's guide and `doctor` list them from here. */
export const SETTINGS = {
  PORT: setting('public listener', 8080, integerBetween(0, 65535)),
  OPERATOR_PORT: setting("operator's listener", 8081, integerBetween(0, 65535)),
  HOST: setting('address of the public listener', '', text),
  OPERATOR_HOST: setting("address of the operator's listener", '127.0.0.1', text),
  METRICS_PORT: setting('listener of /metrics alone, for every role; unset: none', null as number | null, integerBetween(0, 65535)),
  METRICS_HOST: setting('address of the listener for metrics', '127.0.0.1', text),
  API_PROCESSES: setting('processes that serve the public API', 1, integerBetween(1, 64)),
  DATA_DIR: setting('directory of the embedded database and secrets', './data', text),
  DATABASE_URL: setting('PostgreSQL to use instead of the embedded one, with one or several hosts', null as string | null, writableUrl),
  DATABASE_LISTEN_URL: setting('the same database for the one connection that listens, past a pooler', null as string | null, writableUrl),
  DATABASE_REPLICA_URL: setting('streaming replica for large reads: initial load, export, backup', null as string | null, postgresUrl),
  OPERATOR_TOKEN: setting('bootstrap operator token', null as string | null, (value) => {
    if (value.length < 24) throw new Error('at least 24 characters')
    return value
  }),
  PUBLIC_URL: setting('public URL of the service', null as string | null, url(['http:', 'https:'])),
  IMAGE_PROXY: setting('serve catalogue images from this service: on or off', 'off' as 'off' | 'on', oneOf(['off', 'on'])),
  IMAGE_CACHE_MB: setting('space for cached images in DATA_DIR', 2_048, integerBetween(16, 16_777_216)),
  DUMPS_DIR: setting('directory for catalogue dumps; unset: dumps in DATA_DIR', '', text),
  DUMPS_S3_URL: setting('URL of an S3-compatible bucket for dumps, with an optional prefix', null as string | null, bucketUrl),
  DUMPS_S3_ACCESS_KEY: setting('access key of DUMPS_S3_URL', '', text),
  DUMPS_S3_SECRET_KEY: setting('secret key of DUMPS_S3_URL', '', text),
  DUMPS_S3_REGION: setting('region of DUMPS_S3_URL', 'us-east-1', region),
  ARCHIVE_DIR: setting('directory of archived months of the price history and the audit log; unset: archive in DATA_DIR', '', text),
  DUMP_HOUR: setting('hour of the nightly catalogue dump, in TIME_ZONE, or off', 3 as number | null, dumpHour),
  TIME_ZONE: setting('time zone of local times', 'Europe/Istanbul', timeZone),
  LOG_LEVEL: setting('log level', 'info' as (typeof LOG_LEVELS)[number], oneOf(LOG_LEVELS)),
  LISTING_PERIOD_DAYS: setting('publication period of a listing', 30, integerBetween(1, 3650)),
  HIGHLIGHT_DAYS: setting('length of a highlight in days', 7, integerBetween(1, 365)),
  COMMISSION_PERCENT: setting('commission on a sale', 10, decimal(0, 100)),
  RATE_LIMITS: setting('requests per minute by plan, or off', DEFAULT_RATE_LIMITS as Record<Plan, number> | null, rateLimits),
  TRUST_PROXY: setting('whether to trust the client address sent by a proxy', false as boolean | string, trustProxy),
  CORS_ORIGINS: setting('origins of web pages that may call the public API', '*' as '*' | readonly string[], corsOrigins),
  SOURCE_CURRENCIES: setting('currency of each price source', DEFAULT_CURRENCIES, currencies),
  MARKET_NAMES: setting('display names of the markets', {} as MarketNames, marketNames),
  MARKET_ORDER: setting('markets whose prices are shown for an item without prices in its own market, in order', DEFAULT_MARKET_ORDER, marketOrder),
  CATALOGUE_LANGUAGES: setting('languages, in the order search results show them', DEFAULT_LANGUAGES, languages),
  PRICE_HOLD_FACTOR: setting('hold a price that deviates by this factor', 5, decimal(1.1, 1000)),
  PRICE_GRADED_SHARE: setting('hold a PSA 10 price below this share of the Near Mint price', 1, decimal(0, 100)),
  PRICE_FUTURE_HOURS: setting('hours ahead from which a date counts as in the future', 24, integerBetween(0, 87600)),
  PRICE_OWN_FACTOR: setting("dispute a price that deviates from its feed's own averages by this factor", 1.6, decimal(1.1, 1000)),
  PRICE_OFFER_FACTOR: setting("dispute a price above the median or below the lowest of its feed's offers by this factor", 2.5, decimal(1.1, 1000)),
  PRICE_JUMP_FACTOR: setting('dispute a price that deviates from a recent price of the same source by this factor', 1.8, decimal(1.1, 1000)),
  PRICE_AVERAGE_FACTOR: setting('largest plausible change of an average within PRICE_AVERAGE_DAYS, as a factor', 2.5, decimal(1.1, 1000)),
  PRICE_AVERAGE_DAYS: setting('days in which PRICE_AVERAGE_FACTOR applies', 14, integerBetween(1, 365)),
  PRICE_MARKET_FACTOR: setting('dispute prices of two markets that deviate from their usual ratio by this factor', 4.5, decimal(1.1, 1000)),
  PRICE_MARKET_SPREADS: setting('smallest deviation between two markets for a dispute, as a power of their usual spread', 2, decimal(0, 100)),
  PRICE_DOUBT_FACTOR: setting("like PRICE_MARKET_FACTOR, if the feed's own figures agree", 2, decimal(1.1, 1000)),
  PRICE_AGREE_FACTOR: setting('largest deviation from the usual ratio at which another market confirms a jump, as a factor', 1.3, decimal(1, 1000)),
  PRICE_COMPARABLE_DAYS: setting('largest age difference in days between compared prices', 90, integerBetween(1, 3650)),
  PRICE_SETTLE_DAYS: setting('days a source must repeat a jump to confirm it', 30, integerBetween(1, 3650)),
  PRICE_STALE_INTERVALS: setting('number of usual source intervals after which an unconfirmed price is stale', 1, decimal(0.1, 100)),
  PRICE_FEED_PRICES: setting(
    'smallest number of prices in a day that counts as a feed instead of single corrections',
    20,
    integerBetween(1, 1_000_000),
  ),
  PRICE_STALE_DAYS: setting('shortest feed interval of a source, in days', 4, integerBetween(1, 365)),
  PRICE_NOISE: setting('ignore differences below this amount in euro', 0.5, decimal(0, 1000)),
  PRICE_ARCHIVE_MONTHS: setting('months of the price history that stay in the database, 0 for all', 0, archiveMonths),
  PRICE_HISTORY_DAYS: setting('retention of the price history in days; 0: forever', 0, integerBetween(0, 36500)),
  AUDIT_ARCHIVE_MONTHS: setting('months of the audit log that stay in the database, 0 for all', 0, auditArchiveMonths),
  AUDIT_LOG_DAYS: setting('retention of the audit log in days; 0: forever', 0, integerBetween(0, 36500)),
  WEBHOOK_LOG_DAYS: setting('retention of webhook events and their delivery attempts in days', 90, integerBetween(90, 36500)),
  // The minimum leaves room for a page of 100 items of maximum size.
  MINTMARK_WITHOUT: setting('optimisations to disable, for benchmarks', NO_SPEEDUPS, speedups),
  START_FILE_MINUTES: setting(
    'minutes between writes of the in-memory data to DATA_DIR, for a fast start; 0 disables them',
    20,
    integerBetween(0, 1440),
  ),
  MINTMARK_READY_BYTES_MB: setting('memory for cached item JSON', 96, integerBetween(64, 65536)),
  MINTMARK_DEMO: setting(
    'load the sample catalogue and demo into an empty database; unset: only embedded, outside production',
    null as boolean | null,
    flag,
  ),
  WEBHOOK_RETRY_DELAYS: setting('waits before the second and third attempt', [30_000, 300_000] as readonly number[], retryDelays),
  WEBHOOK_ALLOW_CIDRS: setting(
    'private address ranges webhooks may reach; unset: loopback outside production',
    null as readonly string[] | null,
    cidrs,
  ),
  WEBHOOK_ALLOW_HTTP: setting('allow webhooks over http; unset: outside production only', null as boolean | null, flag),
  SECRET_KEY: setting('key that encrypts stored secrets; must be the same on all nodes', null as string | null, (value) => {
    if (value.length < 24) throw new Error('at least 24 characters')
    return value
  }),
  NODE_ENV: setting('production disables development defaults', 'development', text),
} as const

/** The setting that makes the public listener reachable from other machines, with the reason; null for none. */
function exposedBy(host: string, publicUrl: string | null, proxy: boolean | string): string | null {
  if (!isLoopback(host)) return `HOST is ${host}, not a loopback address`
  if (publicUrl !== null && !isLoopback(new URL(publicUrl).hostname)) return `PUBLIC_URL names ${new URL(publicUrl).hostname}, not a loopback address`
  if (proxy !== false) return 'TRUST_PROXY is set: a proxy forwards requests to this service'
  return null
}

type SettingName = keyof typeof SETTINGS

type Read = <N extends SettingName>(name: N) => (typeof SETTINGS)[N]['fallback']

function readerOf(env: NodeJS.ProcessEnv): Read {
  return (name) => {
    const value = env[name]
    if (value === undefined || value === '') return SETTINGS[name].fallback
    try {
      return SETTINGS[name].read(value)
    } catch (error) {
      const shown = /(TOKEN|URL|KEY)$/.test(name) ? '' : ` is "${value}" but`
      throw new ConfigError(`${name}${shown} must be ${(error as Error).message}`)
    }
  }
}

/** Settings that do not fit together. @throws ConfigError */
function checkTogether(read: Read): void {
  if (read('DATABASE_LISTEN_URL') !== null && read('DATABASE_URL') === null) {
    throw new ConfigError('DATABASE_LISTEN_URL needs DATABASE_URL: in front of the embedded PostgreSQL there is no pooler')
  }
  if (read('DATABASE_REPLICA_URL') !== null && read('DATABASE_URL') === null) {
    throw new ConfigError('DATABASE_REPLICA_URL needs DATABASE_URL: the embedded PostgreSQL has no replica')
  }
  // The supervisor opens the ports for its processes, so both listeners would share one socket.
  if (read('API_PROCESSES') > 1 && read('PORT') !== 0 && read('PORT') === read('OPERATOR_PORT')) {
    throw new ConfigError('OPERATOR_PORT must differ from PORT where API_PROCESSES is above 1')
  }
}

/**
 * Reads and checks the settings.
 * @throws ConfigError with one line that names the setting, its value and what is allowed
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  for (const name of Object.keys(env)) {
    if (name.startsWith('MINTMARK_') && !(name in SETTINGS)) {
      const known = Object.keys(SETTINGS).filter((setting) => setting.startsWith('MINTMARK_'))
      throw new ConfigError(`${name} is not a mintmark setting; known settings: ${known.join(', ')}`)
    }
  }
  if (env.REDIS_URL) throw new ConfigError('REDIS_URL is no longer used: nodes share rate limits through PostgreSQL; remove the setting')
  const read = readerOf(env)
  checkTogether(read)
  const production = read('NODE_ENV') === 'production'
  const host = read('HOST') || '127.0.0.1'
  const demoAsked = read('MINTMARK_DEMO')
  const exposed = exposedBy(host, read('PUBLIC_URL'), read('TRUST_PROXY'))
  if (demoAsked && exposed)
    throw new ConfigError(`MINTMARK_DEMO is 1 but ${exposed}: the demo shows a working key, so it only runs on a loopback address`)
  const imageProxy = read('IMAGE_PROXY') === 'on'
  if (imageProxy && read('PUBLIC_URL') === null && exposed) {
    throw new ConfigError(`IMAGE_PROXY is on but PUBLIC_URL, the prefix of image URLs, is not set, and ${exposed}`)
  }
  const needsName = production && !demoAsked ? 'NODE_ENV is production; set MINTMARK_DEMO=1 to allow the demo' : null
  const demoRefusal = exposed ?? needsName
  return Object.freeze({
    port: read('PORT'),
    operatorPort: read('OPERATOR_PORT'),
    host,
    operatorHost: read('OPERATOR_HOST'),
    metricsPort: read('METRICS_PORT'),
    metricsHost: read('METRICS_HOST'),
    apiProcesses: read('API_PROCESSES'),
    dataDir: resolve(read('DATA_DIR')),
    databaseUrl: read('DATABASE_URL'),
    databaseListenUrl: read('DATABASE_LISTEN_URL'),
    databaseReplicaUrl: read('DATABASE_REPLICA_URL'),
    alone: read('DATABASE_URL') === null && read('API_PROCESSES') === 1,
    operatorToken: read('OPERATOR_TOKEN'),
    publicUrl: read('PUBLIC_URL'),
    imageProxy,
    imageCacheMb: read('IMAGE_CACHE_MB'),
    dumpsDir: resolve(read('DUMPS_DIR') || join(read('DATA_DIR'), 'dumps')),
    dumpsS3: dumpBucket(read('DUMPS_S3_URL'), read('DUMPS_S3_ACCESS_KEY'), read('DUMPS_S3_SECRET_KEY'), read('DUMPS_S3_REGION')),
    archiveDir: resolve(read('ARCHIVE_DIR') || join(read('DATA_DIR'), 'archive')),
    priceArchiveMonths: read('PRICE_ARCHIVE_MONTHS'),
    auditArchiveMonths: read('AUDIT_ARCHIVE_MONTHS'),
    auditLogDays: read('AUDIT_LOG_DAYS'),
    webhookLogDays: read('WEBHOOK_LOG_DAYS'),
    dumpHour: read('DUMP_HOUR'),
    timeZone: read('TIME_ZONE'),
    logLevel: read('LOG_LEVEL'),
    listingPeriodDays: read('LISTING_PERIOD_DAYS'),
    highlightDays: read('HIGHLIGHT_DAYS'),
    commissionPercent: read('COMMISSION_PERCENT'),
    rateLimits: read('RATE_LIMITS'),
    trustProxy: read('TRUST_PROXY'),
    corsOrigins: read('CORS_ORIGINS'),
    sourceCurrencies: Object.freeze(read('SOURCE_CURRENCIES')),
    marketNames: read('MARKET_NAMES'),
    marketOrder: read('MARKET_ORDER'),
    catalogueLanguages: read('CATALOGUE_LANGUAGES'),
    priceRules: priceRulesOf(read),
    priceHistoryDays: read('PRICE_HISTORY_DAYS'),
    without: read('MINTMARK_WITHOUT'),
    startFileMinutes: read('START_FILE_MINUTES'),
    readyBytesMb: read('MINTMARK_READY_BYTES_MB'),
    demo: demoAsked ?? (read('DATABASE_URL') === null && demoRefusal === null),
    demoRefusal,
    production,
    webhookRetryDelaysMs: Object.freeze(read('WEBHOOK_RETRY_DELAYS')),
    webhookAllowCidrs: Object.freeze(read('WEBHOOK_ALLOW_CIDRS') ?? (production || env.WEBHOOK_ALLOW_CIDRS === '' ? [] : ['127.0.0.0/8', '::1/128'])),
    imageAllowCidrs: Object.freeze(read('WEBHOOK_ALLOW_CIDRS') ?? []),
    webhookAllowHttp: read('WEBHOOK_ALLOW_HTTP') ?? !production,
    secretKey: read('SECRET_KEY'),
  })
}

function priceRulesOf(read: Read) {
  return Object.freeze({
    holdFactor: read('PRICE_HOLD_FACTOR'),
    gradedShare: read('PRICE_GRADED_SHARE'),
    futureHours: read('PRICE_FUTURE_HOURS'),
    ownFactor: read('PRICE_OWN_FACTOR'),
    offerFactor: read('PRICE_OFFER_FACTOR'),
    jumpFactor: read('PRICE_JUMP_FACTOR'),
    averageFactor: read('PRICE_AVERAGE_FACTOR'),
    averageDays: read('PRICE_AVERAGE_DAYS'),
    marketFactor: read('PRICE_MARKET_FACTOR'),
    marketSpreads: read('PRICE_MARKET_SPREADS'),
    doubtFactor: read('PRICE_DOUBT_FACTOR'),
    agreeFactor: read('PRICE_AGREE_FACTOR'),
    comparableDays: read('PRICE_COMPARABLE_DAYS'),
    settleDays: read('PRICE_SETTLE_DAYS'),
    staleIntervals: read('PRICE_STALE_INTERVALS'),
    staleDays: read('PRICE_STALE_DAYS'),
    feedPrices: read('PRICE_FEED_PRICES'),
    noise: read('PRICE_NOISE'),
    currencies: Object.freeze(read('SOURCE_CURRENCIES')),
  })
}
