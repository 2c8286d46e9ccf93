// Readers of the texts of settings: each returns a value, or throws an error that says what is allowed.
import ipaddr from 'ipaddr.js'
import { parseDuration } from '../duration.ts'
import { isMarket, type Market, type MarketNames, MARKETS } from '../markets.ts'
import { readDatabaseAddress } from '../network/database-address.ts'
import { isLoopback } from '../network/loopback.ts'
import { isOrigin } from '../origins.ts'
import { type Plan, PLANS } from '../plans.ts'
import { type Speedup, SPEEDUPS } from '../speedups.ts'
import { VISIBLE_LINE } from '../text.ts'
import { parseQuietHours, type QuietHours } from '../time.ts'

/** A reader of numbers, with their range for pages and errors. */
export interface NumberReader {
  (text: string): number
  kind: 'integer' | 'decimal'
  min: number
  max: number
}

/** Whole numbers of a range. */
export function integerBetween(min: number, max: number): NumberReader {
  const read = (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new Error(`a whole number from ${min} to ${max}`)
    return value
  }
  return Object.assign(read, { kind: 'integer' as const, min, max })
}

/** Numbers of a range, with a decimal point. */
export function decimal(min: number, max: number): NumberReader {
  const read = (text: string): number => {
    const value = Number(text)
    if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max) throw new Error(`a number from ${min} to ${max}`)
    return value
  }
  return Object.assign(read, { kind: 'decimal' as const, min, max })
}

/** One of a few words. */
export function oneOf<T extends string>(values: readonly T[]): (text: string) => T {
  return (text) => {
    if (!(values as readonly string[]).includes(text)) throw new Error(`one of ${values.join(', ')}`)
    return text as T
  }
}

export const flag = (text: string): boolean => {
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new Error('1 or 0')
}

/** URLs of certain protocols, such as `https:`, without a slash at the end. */
export function url(protocols: readonly string[]): (text: string) => string {
  return (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new Error(`a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    }
    return text.replace(/\/$/, '')
  }
}

/** The URL of a mirror with an optional prefix; `http` only on this machine. */
export function sourcesMirror(text: string): string {
  const { protocol, hostname, username, search, hash } = URL.canParse(text) ? new URL(text) : new URL('none:')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
  if (!isSafe || username !== '' || search !== '' || hash !== '') {
    throw new Error('a URL that begins with https://, or with http:// and a loopback address, without keys')
  }
  return text.replace(/\/$/, '')
}

/** The URL of a bucket with an optional prefix. */
export function bucketUrl(text: string): string {
  const { protocol, pathname, username, search, hash } = URL.canParse(text) ? new URL(text) : new URL('none:')
  const isAddress = protocol === 'https:' || protocol === 'http:'
  if (!isAddress || !/^(\/[^/]+)+\/?$/.test(pathname) || username !== '' || search !== '' || hash !== '') {
    throw new Error('the URL of a bucket with an optional prefix, such as https://s3.example/bucket/cards, without keys')
  }
  return text.replace(/\/$/, '')
}

/** A region of a store. */
export function region(text: string): string {
  if (!/^[a-z0-9-]{1,40}$/.test(text)) throw new Error('a region such as us-east-1')
  return text
}

/** Origins of web pages; `*` for all. */
export function corsOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return '*'
  if (text === 'none') return []
  const origins = text.split(',').map((part) => part.trim())
  if (!origins.every(isOrigin)) throw new Error('*, none, or origins such as https://shop.example,http://localhost:5173')
  return Object.freeze(origins)
}

/** Checking and explaining prices uses the latest months, so those are never archived. */
export const archiveMonths = monthsOrNone(5)

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

/** An hour of the day; null for `off`. */
export function dumpHour(text: string): number | null {
  if (text === 'off') return null
  if (!/^(1?\d|2[0-3])$/.test(text)) throw new Error('off, or a whole number from 0 to 23')
  return Number(text)
}

/** An IANA time zone. */
export function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw new Error('an IANA time zone such as Europe/Istanbul')
  }
}

/** Requests per minute by plan; null for `off`. */
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

/** Names of optimisations. */
export function speedups(text: string): ReadonlySet<Speedup> {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (!names.every((name) => (SPEEDUPS as readonly string[]).includes(name))) throw new Error(`a list of ${SPEEDUPS.join(', ')}`)
  return new Set(names as Speedup[])
}

/** Currencies by market; markets that are not named have their default. */
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

/** Markets, each at most once. */
export function marketOrder(text: string): readonly Market[] {
  const order = text.split(',').map((part) => part.trim())
  if (!order.every(isMarket) || new Set(order).size < order.length) {
    throw new Error(`a list of ${MARKETS.join(', ')}, each at most once, such as ${DEFAULT_MARKET_ORDER.join(',')}`)
  }
  return Object.freeze(order)
}

/** Codes of languages, each at most once. */
export function languages(text: string): readonly string[] {
  const order = text.split(',').map((part) => part.trim())
  if (!order.every((code) => /^[a-z]{2}(-[a-z]{2})?$/.test(code)) || new Set(order).size < order.length) {
    throw new Error(`a list of language codes, each at most once, such as ${DEFAULT_LANGUAGES.slice(0, 3).join(',')}`)
  }
  return Object.freeze(order)
}

const MAX_NAME_LENGTH = 40

const VISIBLE = new RegExp(VISIBLE_LINE, 'u')

/** Names by market. */
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

/** Two durations in milliseconds. */
export function retryDelays(text: string): readonly number[] {
  const delays = text.split(',').map((part) => parseDuration(part.trim()))
  if (delays.length !== 2 || delays.includes(null)) throw new Error('two durations such as 30s,5m')
  return delays as number[]
}

/** Address ranges; `none` for none. */
export function cidrs(text: string): readonly string[] {
  if (text === 'none') return []
  const ranges = text.split(',').map((part) => part.trim())
  if (!ranges.every((range) => ipaddr.isValidCIDR(range))) {
    throw new Error('none, or address ranges such as 10.0.0.0/8,fd00::/8')
  }
  return ranges
}

export const ADDRESS = /^[^\s@<>,]{1,64}@[^\s@<>,]{1,255}$/
const MAX_ADDRESSES = 20

/** @param text addresses separated by commas */
export function emailAddresses(text: string): readonly string[] {
  const addresses = text.split(',').map((part) => part.trim())
  if (addresses.length > MAX_ADDRESSES || !addresses.every((address) => ADDRESS.test(address))) {
    throw new Error(`at most ${MAX_ADDRESSES} e-mail addresses such as ops@shop.example,owner@shop.example`)
  }
  return Object.freeze(addresses)
}

/** Hours of the day; null for `off`. */
export function quietHours(text: string): QuietHours | null {
  if (text === 'off') return null
  const hours = parseQuietHours(text)
  if (hours === null) throw new Error('off, or two different times of day such as 22:00-07:00')
  return hours
}

/** The URL of a mail server. */
export function smtpUrl(text: string): string {
  if (!URL.canParse(text) || !['smtp:', 'smtps:'].includes(new URL(text).protocol) || new URL(text).hostname === '') {
    throw new Error('a URL such as smtps://user:password@mail.example:465')
  }
  return text
}

const PROXY_GROUPS: readonly string[] = ['loopback', 'linklocal', 'uniquelocal']

/** Which proxies to trust: all, none, or those with these addresses. */
export function trustProxy(text: string): boolean | string {
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  const proxies = text.split(',').map((part) => part.trim())
  if (!proxies.every((proxy) => PROXY_GROUPS.includes(proxy) || ipaddr.isValid(proxy) || ipaddr.isValidCIDR(proxy))) {
    throw new Error('1, 0, or addresses of proxies such as loopback,10.0.0.0/8')
  }
  return text
}

export const DEFAULT_RATE_LIMITS: Record<Plan, number> = { starter: 60, professional: 300, plus: 600, enterprise: 3000 }

export const DEFAULT_CURRENCIES: Record<Market, string> = { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' }

export const DEFAULT_LANGUAGES: readonly string[] = ['en', 'ja', 'fr', 'de', 'it', 'es', 'pt', 'ko', 'zh', 'id', 'th']

export const DEFAULT_MARKET_ORDER: readonly Market[] = ['source_c', 'source_b', 'source_a', 'service']

export const secret = (value: string): string => {
  if (value.length < 24) throw new Error('at least 24 characters')
  return value
}

export const text = (value: string): string => value

export const postgresUrl = (value: string): string => {
  readDatabaseAddress(value)
  return value
}

export const writableUrl = (value: string): string => {
  if (readDatabaseAddress(value).role === 'standby') throw new Error('a URL whose target_session_attrs is read-write or any')
  return value
}
