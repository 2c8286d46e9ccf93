// The settings of the service, each with its default and the check of its text.
import ipaddr from 'ipaddr.js'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { parseDuration } from '#core/duration.ts'
import { isMarket, type Market, type MarketNames, MARKETS } from '#core/markets.ts'
import { isOrigin } from '#core/origins.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { type Speedup, SPEEDUPS } from '#core/speedups.ts'
import { VISIBLE_LINE } from '#core/text.ts'

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

export function setting<T>(about: string, fallback: T, read: (text: string) => T): Setting<T> {
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
export function dumpBucket(url: string | null, accessKey: string, secretKey: string, bucketRegion: string): BucketSettings | null {
  const names = ['DUMPS_S3_URL', 'DUMPS_S3_ACCESS_KEY', 'DUMPS_S3_SECRET_KEY']
  const missing = names.filter((_name, i) => !([url, accessKey, secretKey] as const)[i])
  if (missing.length === names.length) return null
  if (missing.length > 0) throw new ConfigError(`${missing.join(' and ')} must be set: dumps in a bucket need ${names.join(', ')}`)
  return Object.freeze({ url: url!, accessKey, secretKey, region: bucketRegion })
}

export function corsOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return '*'
  if (text === 'none') return []
  const origins = text.split(',').map((part) => part.trim())
  if (!origins.every(isOrigin)) throw new Error('*, none, or origins such as https://shop.example,http://localhost:5173')
  return Object.freeze(origins)
}

/** Checking and explaining prices uses the latest months, so those are never archived. */
const archiveMonths = monthsOrNone(5)

/** The usual wait for approval is computed from the decisions of the last 30 days. */
export const auditArchiveMonths = monthsOrNone(2)

/** 0, or at least `min` months. */
function monthsOrNone(min: number): (text: string) => number {
  return (text) => {
    const months = integerBetween(0, 1200)(text)
    if (months > 0 && months < min) throw new Error(`0 or a whole number from ${min} to 1200`)
    return months
  }
}

export function dumpHour(text: string): number | null {
  if (text === 'off') return null
  if (!/^(1?\d|2[0-3])$/.test(text)) throw new Error('off, or a whole number from 0 to 23')
  return Number(text)
}

export function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new Error('an IANA time zone such as Europe/Istanbul')
  }
}

export function rateLimits(text: string): Record<Plan, number> | null {
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

export function currencies(text: string): Record<Market, string> {
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

export function marketOrder(text: string): readonly Market[] {
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

export function marketNames(text: string): MarketNames {
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

export function trustProxy(text: string): boolean | string {
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
  if (readDatabaseAddress(value).role === 'standby') throw new Error('a URL whose target_session_attrs is read-write or any')
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
  PHOTOS_DIR: setting('directory of photos of sellers; unset: photos in DATA_DIR', '', text),
  PHOTOS_PER_ACCOUNT: setting('maximum number of photos of an account', 2_000, integerBetween(0, 1_000_000)),
  COPY_PICTURES: setting('copy pictures that listings link: on or off; unset: on with PUBLIC_URL', null as 'off' | 'on' | null, oneOf(['off', 'on'])),
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
  PRICE_OFFER_FACTOR: setting("dispute a price above the median of its feed's offers by this factor", 2, decimal(1.1, 1000)),
  PRICE_JUMP_FACTOR: setting('dispute a price that deviates from a recent price of the same source by this factor', 1.8, decimal(1.1, 1000)),
  PRICE_AVERAGE_FACTOR: setting('largest plausible change of an average within PRICE_AVERAGE_DAYS, as a factor', 2.5, decimal(1.1, 1000)),
  PRICE_AVERAGE_DAYS: setting('days in which PRICE_AVERAGE_FACTOR applies', 14, integerBetween(1, 365)),
  PRICE_MARKET_FACTOR: setting('dispute prices of two markets that deviate from their usual ratio by this factor', 4.5, decimal(1.1, 1000)),
  PRICE_MARKET_SPREADS: setting('smallest deviation between two markets for a dispute, as a power of their usual spread', 2, decimal(0, 100)),
  PRICE_CONDITION_FACTOR: setting('multiplies PRICE_MARKET_FACTOR if the condition of the lower price is not known', 1.5, decimal(1, 1000)),
  PRICE_DOUBT_FACTOR: setting("like PRICE_MARKET_FACTOR, if the feed's own figures agree", 2, decimal(1.1, 1000)),
  PRICE_APART_FACTOR: setting('flag prices of two markets that differ by this factor, even if that is usual', 5, decimal(1.1, 1000)),
  PRICE_AGREE_FACTOR: setting('largest deviation from the usual ratio at which another market confirms a jump, as a factor', 1.3, decimal(1, 1000)),
  PRICE_COMPARABLE_DAYS: setting('largest age difference in days between compared prices', 90, integerBetween(1, 3650)),
  PRICE_SETTLE_DAYS: setting('days a source must repeat a jump to confirm it', 30, integerBetween(1, 3650)),
  PRICE_STALE_INTERVALS: setting('number of usual source intervals after which an unconfirmed price is stale', 1, decimal(0.1, 100)),
  PRICE_FEED_PRICES: setting('smallest number of prices in a day that counts as a feed', 20, integerBetween(1, 1_000_000)),
  PRICE_STALE_DAYS: setting('shortest feed interval of a source, in days', 4, integerBetween(1, 365)),
  PRICE_FROZEN_DAYS: setting('days after which a repeated price is frozen if another market has moved', 21, integerBetween(1, 3650)),
  PRICE_FROZEN_FACTOR: setting('how far another market must have moved for that, as a factor', 1.6, decimal(1.01, 1000)),
  PRICE_DRIFT_CARDS: setting('how many prices of a feed must be off together for it to be refused', 200, integerBetween(20, 1_000_000)),
  PRICE_DRIFT_FACTOR: setting('median factor from its last prices at which a feed is refused', 1.08, decimal(1.01, 1000)),
  PRICE_DRIFT_MARKET_FACTOR: setting('median factor from another market at which a feed is refused', 3, decimal(1.5, 1000)),
  PRICE_NOISE: setting('ignore differences below this amount in euro', 0.5, decimal(0, 1000)),
  PRICE_SHIPPING_FLOOR: setting(
    'least cost of shipping a card in TL, for estimates of what it would cost to move our own prices',
    30,
    decimal(0, 10000),
  ),
  PRICE_ARCHIVE_MONTHS: setting('months of the price history that stay in the database, 0 for all', 0, archiveMonths),
  PRICE_HISTORY_DAYS: setting('retention of the price history in days; 0: forever', 0, integerBetween(0, 36500)),
  AUDIT_ARCHIVE_MONTHS: setting('months of the audit log that stay in the database, 0 for all', 0, auditArchiveMonths),
  AUDIT_LOG_DAYS: setting('retention of the audit log in days; 0: forever', 0, integerBetween(0, 36500)),
  NOTICE_HOURS: setting('hours within which a notice of infringement must be decided', 48, integerBetween(1, 8760)),
  NOTICE_DAYS: setting('retention of decided notices of infringement in days', 1095, integerBetween(1, 36500)),
  OFFER_DAYS: setting('retention of offers in days', 365, integerBetween(30, 36500)),
  PRICE_JOB_DAYS: setting('retention of price jobs in days', 90, integerBetween(1, 36500)),
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
