// Reads the environment, in this file only: every setting is checked and passed on in one frozen object.
import { join, resolve } from 'node:path'
import { identityProvider, type IdentityProviderSettings } from '#core/network/identity-provider.ts'
import { isLoopback } from '#core/network/loopback.ts'
import type { Market, MarketNames } from '#core/markets.ts'
import type { Plan } from '#core/plans.ts'
import type { QuietHours } from '#core/time.ts'
import type { Speedup } from '#core/speedups.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import { CHANGEABLE_NAMES, type ChangeableName, ConfigError, dumpBucket, SETTINGS } from '#settings.ts'
import type { BucketSettings } from '#core/files/bucket-settings.ts'

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
  /** the OpenID Connect provider with which operators sign in; null for none */
  identityProvider: IdentityProviderSettings | null
  /** URL at which browsers reach the operator's listener, without a trailing slash; null: the address of each request */
  operatorUrl: string | null
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
  /** folder of photos of sellers, or where they are written before they are uploaded to `dumpsS3` */
  photosDir: string
  photosPerAccount: number
  /** folder of the files of public sources */
  sourcesDir: string
  /** mirror that is asked instead of the public sources, without a slash at its end; null for none */
  sourcesMirror: string | null
  /** maximum number of sandboxes of all accounts together; 0: none are created */
  sandboxes: number
  /** whether pictures that listings link from elsewhere are copied */
  copyPictures: boolean
  /** months of the price history before the current one that stay in the database, 0: all */
  priceArchiveMonths: number
  /** months of the audit log before the current one that stay in the database, 0: all */
  auditArchiveMonths: number
  /** retention of the audit log, 0: forever */
  auditLogDays: number
  /** hours within which a notice of infringement must be decided */
  noticeHours: number
  /** retention of decided notices */
  noticeDays: number
  /** retention of offers */
  offerDays: number
  /** retention of price jobs */
  priceJobDays: number
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
  /** how operators are notified outside the console; null: not in this way */
  notify: {
    webhook: { url: string; secret: string } | null
    email: { server: string; from: string; to: readonly string[]; quietHours: QuietHours | null; language: 'en' | 'tr' } | null
  }
  /** texts of the environment, of the settings that operators can change while the service runs */
  environment: Readonly<Partial<Record<ChangeableName, string>>>
  /** key that encrypts webhook secrets; null: one generated in `dataDir` */
  secretKey: string | null
}

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
      const shown = /(TOKEN|URL|KEY|SECRET)$/.test(name) ? '' : ` is "${value}" but`
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

function refuseUnknown(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith('MINTMARK_') && !(name in SETTINGS)) {
      const settings = Object.keys(SETTINGS).filter((setting) => setting.startsWith('MINTMARK_'))
      throw new ConfigError(`${name} is not a mintmark setting; known settings: ${settings.join(', ')}`)
    }
  }
  if (env.REDIS_URL) throw new ConfigError('REDIS_URL is no longer used: nodes share rate limits through PostgreSQL; remove the setting')
}

/**
 * Reads and checks the settings.
 * @throws ConfigError with one line that names the setting, its value and what is allowed
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  refuseUnknown(env)
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
    identityProvider: providerOf(read),
    operatorUrl: read('OPERATOR_URL'),
    publicUrl: read('PUBLIC_URL'),
    imageProxy,
    imageCacheMb: read('IMAGE_CACHE_MB'),
    dumpsDir: resolve(read('DUMPS_DIR') || join(read('DATA_DIR'), 'dumps')),
    dumpsS3: dumpBucket(read('DUMPS_S3_URL'), read('DUMPS_S3_ACCESS_KEY'), read('DUMPS_S3_SECRET_KEY'), read('DUMPS_S3_REGION')),
    archiveDir: resolve(read('ARCHIVE_DIR') || join(read('DATA_DIR'), 'archive')),
    photosDir: resolve(read('PHOTOS_DIR') || join(read('DATA_DIR'), 'photos')),
    photosPerAccount: read('PHOTOS_PER_ACCOUNT'),
    sourcesDir: resolve(join(read('DATA_DIR'), 'sources')),
    sourcesMirror: read('SOURCES_MIRROR_URL'),
    sandboxes: read('SANDBOXES'),
    copyPictures: (read('COPY_PICTURES') ?? (read('PUBLIC_URL') === null ? 'off' : 'on')) === 'on' && read('PHOTOS_PER_ACCOUNT') > 0,
    priceArchiveMonths: read('PRICE_ARCHIVE_MONTHS'),
    auditArchiveMonths: read('AUDIT_ARCHIVE_MONTHS'),
    auditLogDays: read('AUDIT_LOG_DAYS'),
    noticeHours: read('NOTICE_HOURS'),
    noticeDays: read('NOTICE_DAYS'),
    offerDays: read('OFFER_DAYS'),
    priceJobDays: read('PRICE_JOB_DAYS'),
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
    ...outboundOf(read, { production, none: env.WEBHOOK_ALLOW_CIDRS === '' }),
    notify: notifyOf(read),
    environment: Object.freeze(Object.fromEntries(CHANGEABLE_NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))),
    secretKey: read('SECRET_KEY'),
  })
}

/** Where requests may go; outside production, also to this machine, unless the setting is empty. */
function outboundOf(read: Read, { production, none }: { production: boolean; none: boolean }) {
  const allowed = read('WEBHOOK_ALLOW_CIDRS')
  return {
    webhookRetryDelaysMs: Object.freeze(read('WEBHOOK_RETRY_DELAYS')),
    webhookAllowCidrs: Object.freeze(allowed ?? (production || none ? [] : ['127.0.0.0/8', '::1/128'])),
    imageAllowCidrs: Object.freeze(allowed ?? []),
    webhookAllowHttp: read('WEBHOOK_ALLOW_HTTP') ?? !production,
  }
}

function providerOf(read: Read): IdentityProviderSettings | null {
  try {
    return identityProvider(read)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

/** @throws ConfigError if a part of a channel is missing */
function notifyOf(read: Read): Config['notify'] {
  const [url, secret] = [read('NOTIFY_WEBHOOK_URL'), read('NOTIFY_WEBHOOK_SECRET')]
  if ((url === null) !== (secret === '')) throw new ConfigError('NOTIFY_WEBHOOK_URL and NOTIFY_WEBHOOK_SECRET must be set together')
  const [server, to, from] = [read('SMTP_URL'), read('NOTIFY_EMAIL'), read('NOTIFY_EMAIL_FROM')]
  // Read without e-mail, too: an invalid value must not wait for it.
  const [quietHours, language] = [read('NOTIFY_QUIET_HOURS'), read('NOTIFY_LANGUAGE')]
  const isSet = [server !== null, to.length > 0, from !== '']
  if (isSet.includes(true) && isSet.includes(false)) throw new ConfigError('SMTP_URL, NOTIFY_EMAIL and NOTIFY_EMAIL_FROM must be set together')
  return Object.freeze({
    webhook: url === null ? null : { url, secret },
    email: server === null ? null : { server, from, to, quietHours, language },
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
    conditionFactor: read('PRICE_CONDITION_FACTOR'),
    doubtFactor: read('PRICE_DOUBT_FACTOR'),
    apartFactor: read('PRICE_APART_FACTOR'),
    agreeFactor: read('PRICE_AGREE_FACTOR'),
    comparableDays: read('PRICE_COMPARABLE_DAYS'),
    settleDays: read('PRICE_SETTLE_DAYS'),
    staleIntervals: read('PRICE_STALE_INTERVALS'),
    staleDays: read('PRICE_STALE_DAYS'),
    frozenDays: read('PRICE_FROZEN_DAYS'),
    frozenFactor: read('PRICE_FROZEN_FACTOR'),
    driftCards: read('PRICE_DRIFT_CARDS'),
    driftFactor: read('PRICE_DRIFT_FACTOR'),
    driftMarketFactor: read('PRICE_DRIFT_MARKET_FACTOR'),
    feedPrices: read('PRICE_FEED_PRICES'),
    noise: read('PRICE_NOISE'),
    shippingFloor: read('PRICE_SHIPPING_FLOOR'),
    currencies: Object.freeze(read('SOURCE_CURRENCIES')),
  })
}
