// How settings that operators can change are written as text, and where a running node uses them.
import { type Market, MARKETS } from '#core/markets.ts'
import type { NumberReader } from '#core/settings/readers.ts'
import { type ChangeableName, SETTINGS } from '#settings.ts'
import type { QuietHours } from '#core/time.ts'
import type { Config } from '#config.ts'

export const SETTING_KINDS = ['integer', 'decimal', 'market_names', 'source_currencies', 'market_order', 'quiet_hours'] as const
export type SettingKind = (typeof SETTING_KINDS)[number]

/** A setting that operators can change. */
export interface Changeable {
  kind: SettingKind
  /** range of numbers; null for other kinds */
  range: { min: number; max: number } | null
  about: string
  /** the default as text */
  fallback: string
  /** reads a text and writes it in its usual notation. @throws Error for an invalid text */
  normal: (text: string) => string
  /** makes a valid text take effect on a node */
  apply: (config: LiveConfig, text: string) => void
}

/** The settings of a running node. Other modules hold them and the objects in them, so changes are made in place. */
export type LiveConfig = Config & { marketNames: Partial<Record<Market, string>> }

type NumberField = 'commissionPercent' | 'listingPeriodDays' | 'highlightDays' | 'priceHistoryDays' | 'auditLogDays' | 'webhookLogDays'

function ofNumber(name: ChangeableName, field: NumberField): Changeable {
  const { about, fallback, read } = SETTINGS[name] as { about: string; fallback: number; read: NumberReader }
  const { kind, min, max } = read
  return {
    kind,
    range: { min, max },
    about,
    fallback: String(fallback),
    normal: (text) => String(read(text)),
    apply: (config, text) => {
      config[field] = read(text)
    },
  }
}

/** @param replace the content of an object that other modules hold */
function other<T>(
  kind: SettingKind,
  { about, fallback, read }: { about: string; fallback: T; read: (text: string) => T },
  write: (value: T) => string,
  use: (config: LiveConfig, value: T) => void,
): Changeable {
  return {
    kind,
    range: null,
    about,
    fallback: write(fallback),
    normal: (text) => write(readText(read, fallback, text)),
    apply: (config, text) => use(config, readText(read, fallback, text)),
  }
}

/** An empty text, such as no names of markets, is the default, as in the environment. */
function readText<T>(read: (text: string) => T, fallback: T, text: string): T {
  return text === '' ? fallback : read(text)
}

function pairs(values: Partial<Record<Market, string>>): string {
  return MARKETS.flatMap((market) => (values[market] === undefined ? [] : [`${market}=${values[market]}`])).join(',')
}

function replace<T extends object>(held: T, by: T): void {
  for (const name of Object.keys(held)) delete (held as Record<string, unknown>)[name]
  Object.assign(held, by)
}

/** The own currency of the service is not a setting. */
function currencyPairs({ service: _own, ...others }: Record<Market, string>): string {
  return pairs(others)
}

function hours(quiet: QuietHours | null): string {
  if (quiet === null) return 'off'
  const clock = (minute: number) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
  return `${clock(quiet.from)}-${clock(quiet.to)}`
}

export const CHANGEABLE: Record<ChangeableName, Changeable> = {
  COMMISSION_PERCENT: ofNumber('COMMISSION_PERCENT', 'commissionPercent'),
  LISTING_PERIOD_DAYS: ofNumber('LISTING_PERIOD_DAYS', 'listingPeriodDays'),
  HIGHLIGHT_DAYS: ofNumber('HIGHLIGHT_DAYS', 'highlightDays'),
  MARKET_NAMES: other('market_names', SETTINGS.MARKET_NAMES, pairs, (config, names) => replace(config.marketNames, { ...names })),
  SOURCE_CURRENCIES: other('source_currencies', SETTINGS.SOURCE_CURRENCIES, currencyPairs, (config, currencies) =>
    replace(config.sourceCurrencies, { ...currencies }),
  ),
  MARKET_ORDER: other(
    'market_order',
    SETTINGS.MARKET_ORDER,
    (order) => order.join(','),
    (config, order) => {
      config.marketOrder = order
    },
  ),
  PRICE_HISTORY_DAYS: ofNumber('PRICE_HISTORY_DAYS', 'priceHistoryDays'),
  AUDIT_LOG_DAYS: ofNumber('AUDIT_LOG_DAYS', 'auditLogDays'),
  WEBHOOK_LOG_DAYS: ofNumber('WEBHOOK_LOG_DAYS', 'webhookLogDays'),
  NOTIFY_QUIET_HOURS: other('quiet_hours', SETTINGS.NOTIFY_QUIET_HOURS, hours, (config, quietHours) => {
    const { email, webhook } = config.notify
    config.notify = { webhook, email: email && { ...email, quietHours } }
  }),
}
