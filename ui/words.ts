// Texts of the pages in the reader's language, with numbers, dates and prices formatted for that language.
import { computed, signal } from '@preact/signals'
import { en } from './words/en.ts'
import { renameFields, type Reason, textIn } from '../src/core/problems.ts'
import { storedPreference, storePreference } from './preferences.ts'
import { timeZone } from './time-zone.ts'
import { TURKISH } from '../src/core/problem-texts/turkish.ts'
import { tr } from './words/tr.ts'

export const LOCALES = { en: 'English', tr: 'Türkçe' } as const
export type Locale = keyof typeof LOCALES

const DICTIONARIES: Record<Locale, Record<string, string>> = { en: { ...en }, tr: { ...tr } }
const STORAGE_KEY = 'mintmark-locale'

export const locale = signal<Locale>(firstLocale())

export function chooseLocale(next: Locale): void {
  locale.value = next
  storePreference(STORAGE_KEY, next)
}

/** The `{names}` in a text. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** Keys of texts that name no values. */
export type PlainKey<Words extends Record<string, string>> = {
  [Key in keyof Words]: [NamesIn<Words[Key]>] extends [never] ? Key : never
}[keyof Words]

/** The shared texts, with those of a set of pages. */
export type WithShared<Words> = Words & typeof en

/** Returns the text of a key with its `{names}` replaced; takes exactly the values that the text names. */
export type Texts<Words extends Record<string, string>> = <Key extends keyof Words & string>(
  key: Key,
  ...values: [NamesIn<Words[Key]>] extends [never] ? [] : [Record<NamesIn<Words[Key]>, string | number>]
) => string

export const t: Texts<typeof en> = textOf

/** Adds the texts of a set of pages to the shared ones, and returns a lookup of both. */
export function withWords<Words extends Record<string, string>>(own: { en: Words; tr: Record<keyof Words, string> }): Texts<WithShared<Words>> {
  for (const code of Object.keys(LOCALES) as Locale[]) Object.assign(DICTIONARIES[code], own[code])
  return textOf
}

function textOf(key: string, values: Record<string, string | number> = {}): string {
  const text = DICTIONARIES[locale.value][key] ?? key
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    return value === undefined ? whole : typeof value === 'number' ? count(value) : value
  })
}

const marketNames = signal<Readonly<Record<string, string>>>({})

/** Names that the operator has given to markets, by code; they override those of the dictionary. */
export function nameMarkets(names: Readonly<Record<string, string>>): void {
  marketNames.value = names
}

/** The text of a value of a fixed set, such as a status; the code itself if there is no text. */
export function termText(set: string, code: string): string {
  const marketName = set === 'market' ? marketNames.value[code] : undefined
  if (marketName !== undefined) return marketName
  const key = `${set}.${code}`
  return key in DICTIONARIES.en ? textOf(key) : code
}

/** A rejection by the service: its English text, and the rule and parameters it was built from. */
export interface RefusalReason {
  message: string
  field?: string | undefined
  rule?: string | null | undefined
  params?: object | null | undefined
}

/** Why a request was rejected, in the reader's language; the service's English text if the rule is unknown here. */
export function refusalText({ message, ...why }: RefusalReason): string {
  const { rule, params } = why
  if (locale.value === 'en' || !rule || !params || !(rule in TURKISH.rules)) return message
  return textIn(TURKISH, renameFields(why as Reason, { nameOf: fieldName }))
}

/** As `refusal`, for a whole request. */
export function sentence(refused: RefusalReason): string {
  const text = refusalText(refused)
  return text.charAt(0).toLocaleUpperCase(locale.value) + text.slice(1)
}

/** Label of a request field: the last part of `lines.0.quantity`. A column of a file, `line_4.month`, is named with its line. */
export function fieldName(field: string): string {
  const name = termText('field', field.slice(field.lastIndexOf('.') + 1))
  const [, line] = /^line_(\d+)\./.exec(field) ?? []
  return line === undefined ? name : `${t('lineNumber', { number: line })}, ${name}`
}

/** British formats for English: day before month, 24-hour clock. */
const written = computed(() => (locale.value === 'en' ? 'en-GB' : locale.value))
const numbers = computed(() => new Intl.NumberFormat(written.value))
const shares = computed(() => new Intl.NumberFormat(written.value, { style: 'percent', maximumSignificantDigits: 2 }))
const times = computed(() => new Intl.DateTimeFormat(written.value, { dateStyle: 'medium', timeStyle: 'short', timeZone: timeZone.value }))
const days = computed(() => new Intl.DateTimeFormat(written.value, { day: 'numeric', month: 'short', timeZone: timeZone.value }))
const dates = computed(() => new Intl.DateTimeFormat(written.value, { dateStyle: 'medium', timeZone: timeZone.value }))
const months = computed(() => new Intl.DateTimeFormat(written.value, { month: 'short', year: '2-digit', timeZone: timeZone.value }))
const spans = computed(() => new Intl.RelativeTimeFormat(written.value, { numeric: 'auto' }))

const languages = computed(() => new Intl.DisplayNames(written.value, { type: 'language' }))

/** The name of a language code such as `en` or `pt-BR`; the code itself if it has none. */
export function language(code: string): string {
  try {
    return languages.value.of(code) ?? code
  } catch {
    return code
  }
}

export function count(value: number): string {
  return numbers.value.format(value)
}

const percentages = computed(() => new Intl.NumberFormat(written.value, { style: 'percent', maximumFractionDigits: 1 }))

/** Percent, 0 to 100, with one decimal. */
export function percentage(value: number): string {
  return percentages.value.format(value / 100)
}

/** A share, 0 to 1, in percent. */
export function share(value: number): string {
  return shares.value.format(value)
}

/** Units of a duration: the first one that it reaches, with the length in hours and the number of decimals. */
const DURATIONS = [
  ['day', 24, 0],
  ['hour', 1, 1],
  ['minute', 1 / 60, 0],
] as const

/** A duration given in hours, in the unit that people would use: `30 days`. */
export function duration(hours: number): string {
  // Two days in hours are clearer than a rounded number of days.
  const [unit, size, decimals] = DURATIONS.find(([name, length]) => hours >= (name === 'day' ? 2 * length : length)) ?? DURATIONS[2]
  return new Intl.NumberFormat(written.value, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: decimals }).format(hours / size)
}

const rates = computed(() => new Intl.NumberFormat(written.value, { maximumFractionDigits: 6 }))

/** An exchange rate. */
export function rateText(value: number): string {
  return rates.value.format(value)
}

const prices = new Map<string, Intl.NumberFormat>()

/** An amount in a currency, always with two decimals. */
export function money(value: number, currency: string): string {
  const name = `${written.value} ${currency}`
  let format = prices.get(name)
  if (!format) prices.set(name, (format = new Intl.NumberFormat(written.value, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })))
  return format.format(value)
}

const ticks = new Map<string, Intl.NumberFormat>()

/** A short amount for an axis: `$1.25K`. */
export function moneyTick(value: number, currency: string): string {
  const name = `${written.value} ${currency}`
  const format = { style: 'currency', currency, currencyDisplay: 'narrowSymbol', notation: 'compact', maximumSignificantDigits: 4 } as const
  if (!ticks.has(name)) ticks.set(name, new Intl.NumberFormat(written.value, format))
  return ticks.get(name)!.format(value)
}

/** An amount in Turkish lira, the currency of the marketplace. */
export function lira(value: number): string {
  return money(value, 'TRY')
}

export function moment(iso: string): string {
  return times.value.format(new Date(iso))
}

export function date(iso: string): string {
  return dates.value.format(new Date(iso))
}

const calendarDays = computed(() => new Intl.DateTimeFormat(written.value, { dateStyle: 'medium', timeZone: 'UTC' }))

/** A calendar day, such as `2026-11-22`, independent of time zones. */
export function calendarDay(iso: string): string {
  return calendarDays.value.format(new Date(iso))
}

const wholeMonths = computed(() => new Intl.DateTimeFormat(written.value, { month: 'long', year: 'numeric', timeZone: 'UTC' }))

/** A calendar month, such as `2026-11`, independent of time zones. */
export function wholeMonth(iso: string): string {
  return wholeMonths.value.format(new Date(iso))
}

export function day(iso: string): string {
  return days.value.format(new Date(iso))
}

export function month(iso: string): string {
  return months.value.format(new Date(iso))
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** Relative time, past or future: `3 hours ago`. */
export function ago(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return spans.value.format(Math.trunc(seconds / size), unit)
}

function firstLocale(): Locale {
  const stored = storedPreference(STORAGE_KEY)
  if (stored !== null && stored in LOCALES) return stored as Locale
  return navigator.language.startsWith('tr') ? 'tr' : 'en'
}
