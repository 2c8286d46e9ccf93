// The settings of the service, each with its default and the check of its text.
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import type { MarketNames } from '#core/markets.ts'
import { IDENTITY_PROVIDER_SETTINGS } from '#core/network/identity-provider.ts'
import type { Plan } from '#core/plans.ts'
import {
  ADDRESS,
  DEFAULT_CURRENCIES,
  DEFAULT_LANGUAGES,
  DEFAULT_MARKET_ORDER,
  DEFAULT_RATE_LIMITS,
  archiveMonths,
  auditArchiveMonths,
  bucketUrl,
  cidrs,
  corsOrigins,
  currencies,
  decimal,
  dumpHour,
  emailAddresses,
  flag,
  integerBetween,
  languages,
  marketNames,
  marketOrder,
  oneOf,
  postgresUrl,
  quietHours,
  rateLimits,
  region,
  retryDelays,
  secret,
  smtpUrl,
  sourcesMirror,
  speedups,
  text,
  timeZone,
  trustProxy,
  url,
  writableUrl,
} from '#core/settings/readers.ts'
import type { Speedup } from '#core/speedups.ts'
import type { QuietHours } from '#core/time.ts'

/** A setting is missing or invalid; the message names it and says what is allowed. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** A checked setting: its default, and how its text is read; `read` throws an error that says what is allowed. */
interface Setting<T, Read extends (text: string) => T> {
  fallback: T
  about: string
  read: Read
}

const NO_SPEEDUPS: ReadonlySet<Speedup> = new Set()

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export function setting<T, Read extends (text: string) => T>(about: string, fallback: T, read: Read): Setting<T, Read> {
  return { about, fallback, read }
}

/** The bucket of the dumps, null if none is set. @throws ConfigError if only a part of its address and keys is set */
export function dumpBucket(url: string | null, accessKey: string, secretKey: string, bucketRegion: string): BucketSettings | null {
  const names = ['DUMPS_S3_URL', 'DUMPS_S3_ACCESS_KEY', 'DUMPS_S3_SECRET_KEY']
  const missing = names.filter((_name, i) => !([url, accessKey, secretKey] as const)[i])
  if (missing.length === names.length) return null
  if (missing.length > 0) throw new ConfigError(`${missing.join(' and ')} must be set: dumps in a bucket need ${names.join(', ')}`)
  return Object.freeze({ url: url!, accessKey, secretKey, region: bucketRegion })
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
  OPERATOR_TOKEN: setting('bootstrap operator token', null as string | null, secret),
  ...IDENTITY_PROVIDER_SETTINGS,
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
  SOURCES_MIRROR_URL: setting('mirror of the public sources, for networks that do not reach them', null as string | null, sourcesMirror),
  SANDBOXES: setting('maximum number of sandboxes of all accounts together', 100, integerBetween(0, 10_000)),
  PHOTOS_PER_ACCOUNT: setting('maximum number of photos of an account', 2_000, integerBetween(0, 1_000_000)),
  COPY_PICTURES: setting(
    'copy pictures that listings link: on or off; unset: on with PUBLIC_URL',
    null as 'off' | 'on' | null,
    oneOf(['off', 'on'] as const),
  ),
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
  SECRET_KEY: setting('key that encrypts stored secrets; must be the same on all nodes', null as string | null, secret),
  NOTIFY_WEBHOOK_URL: setting('URL that gets signed notifications about the service', null as string | null, url(['http:', 'https:'])),
  NOTIFY_WEBHOOK_SECRET: setting('secret that signs them', '', secret),
  SMTP_URL: setting('mail server for notifications about the service', null as string | null, smtpUrl),
  NOTIFY_EMAIL: setting('e-mail addresses that get notifications about the service', [] as readonly string[], emailAddresses),
  NOTIFY_EMAIL_FROM: setting('sender of these e-mails', '', (value) => {
    if (!ADDRESS.test(value)) throw new Error('an e-mail address such as mintmark@shop.example')
    return value
  }),
  NOTIFY_QUIET_HOURS: setting('hours in TIME_ZONE in which only critical e-mails are sent, or off', null as QuietHours | null, quietHours),
  NOTIFY_LANGUAGE: setting('language of these e-mails: en or tr', 'en' as 'en' | 'tr', oneOf(['en', 'tr'])),
  NODE_ENV: setting('production disables development defaults', 'development', text),
} as const

/** Settings that operators can change while the service runs, in the order of the console's page. */
export const CHANGEABLE_NAMES = [
  'COMMISSION_PERCENT',
  'LISTING_PERIOD_DAYS',
  'HIGHLIGHT_DAYS',
  'MARKET_NAMES',
  'SOURCE_CURRENCIES',
  'MARKET_ORDER',
  'PRICE_HISTORY_DAYS',
  'AUDIT_LOG_DAYS',
  'WEBHOOK_LOG_DAYS',
  'NOTIFY_QUIET_HOURS',
] as const satisfies (keyof typeof SETTINGS)[]
export type ChangeableName = (typeof CHANGEABLE_NAMES)[number]
