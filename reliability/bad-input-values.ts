// Invalid values of all kinds, and valid ones generated from a schema, for JSON bodies, query strings and paths.

import type { Shape } from '#core/input.ts'

/** A seeded random number generator. */
export class Chance {
  readonly #random: () => number
  readonly #turns = new Map<string, number>()

  constructor(random: () => number) {
    this.#random = random
  }

  /** True with this probability. */
  is(share: number): boolean {
    return this.#random() < share
  }

  below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** The next element of the list with this name, so that each one has its turn. */
  next<T>(name: string, list: readonly T[]): T {
    const turn = this.#turns.get(name) ?? 0
    this.#turns.set(name, turn + 1)
    return list[turn % list.length]!
  }
}

const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`

/** Well-formed times and days that are out of range. */
export const WRONG_TIMES: readonly string[] = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00+03:00',
  '9999-12-31T23:59:59-03:00',
  '+010000-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
]
export const WRONG_DAYS: readonly string[] = ['0000-01-01', '0001-01-01', '1582-10-10', '1969-12-31', '+010000-01-01', '10000-01-01']

/** Names that are invisible, or change the text direction. */
export const WRONG_NAMES: readonly string[] = [
  '\u200b',
  '\u200d',
  '\u00ad',
  '\u3164',
  '\u115f',
  '\uffa0',
  '\u2800',
  '\u2060\ufeff',
  ' \u200b ',
  '\u{e0001}',
  'a\u202eb',
  'a\u2066b',
  'a\u2028b',
  'a\u2029b',
]

/** Texts that often break programs; none is a small number, because that could be an existing id. */
export const NASTY_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\t\r\n',
  '\u001b[31m',
  '\ud800',
  'x\udc00',
  '\ufeffx',
  '\u202eabc',
  '\u200b',
  'İıŞşĞğ',
  'e\u0301'.repeat(500),
  '👩‍👩‍👧‍👦',
  '\u{10ffff}',
  'ﷺ'.repeat(300),
  '\uffff',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e999',
  '-1',
  '0x10',
  '1_000',
  '٣',
  '1,5',
  ' 12',
  '9'.repeat(400),
  '-9223372036854775809',
  '2147483648',
  '9007199254740991',
  '9223372036854775807',
  '9223372036854775808',
  '1.0000000000000000000001',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "' or 1=1 --",
  '"; drop table items; --',
  '\\',
  '\\x',
  '%',
  '%s%n',
  '\u0024{7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '..\\..\\',
  'file:///etc/passwd',
  'http://169.254.169.254/',
  'https://user:pass@example.com',
  'http://[::1]',
  'https://',
  'javascript:1',
  `https://example.com/${'x'.repeat(600)}`,
  '2026-02-30',
  '0000-00-00',
  '99999-12-31',
  '2026-01-01T25:61:61Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-01-01T00:00:00+99:99',
  '2026-11-31',
  'x'.repeat(256),
  'x'.repeat(10_001),
  'ş'.repeat(100_000),
  '(a+)+$',
  '.*',
  `${'a'.repeat(40)}!`,
  '=cmd|calc',
  '*',
  '?',
  '/',
  '//',
  '..',
  '.',
  '\u2028',
  ...WRONG_TIMES,
  ...WRONG_DAYS,
  ...WRONG_NAMES,
]

/** The same as JSON, including values other than text; some are not valid JSON. */
const NASTY_JSON: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '0.001',
  '1e-320',
  '1e308',
  '-1e308',
  '1e400',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '9223372036854775808',
  '100000000000000000000000000',
  '0.1e-400',
  '[]',
  '[[]]',
  '[null]',
  '{}',
  '[1,2,3]',
  '{"a":1}',
  '{"$gt":""}',
  '{"length":1000000000}',
  '{"toString":"x"}',
  '{"then":1}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '"\\ud800"',
  '"\\u0000"',
  deep('[', ']', 200),
  deep('{"a":', '}', 200),
  deep('[', ']', 5_000),
  `[${'1,'.repeat(20_000)}1]`,
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '1.',
  '.5',
  '+1',
  '0x1',
  "'x'",
  '',
]

/** Bodies that are invalid as a whole. */
const NASTY_BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '}',
  '[',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '{}',
  '[{}]',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '\ufeff{}',
  '{}{}',
  '\0',
  'undefined',
  'x=1&y=2',
  '<xml/>',
  deep('[', ']', 100_000),
  deep('{"a":', '}', 50_000),
  `"${'x'.repeat(900_000)}"`,
  `{"x":"${'x'.repeat(1_100_000)}"}`,
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  Buffer.from('{"title":"\xff\xfe"}', 'latin1'),
  Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
  '{"__proto__":{"price":5}}',
  '{"constructor":1}',
  '{"":1}',
  '\u2028',
]

/** Query and path parts that are already encoded, some of them incorrectly. */
const NASTY_ENCODED: readonly string[] = [
  '%',
  '%%',
  '%zz',
  '%ff',
  '%C0%AF',
  '%ED%A0%80',
  '%00',
  'a%00b',
  '%F4%90%80%80',
  '%u0041',
  '+',
  '\xff\xfe',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%2f..%2f',
  '%5c..%5c',
  '%0d%0aX-Injected:%201',
  '[]',
  '[0]',
  '{}',
  ';',
  ',',
  '1;2',
  '%26',
  '%3d',
  '%25%30%30',
  '%E2%80%8B1',
]

export function nastyJson(chance: Chance): string {
  return chance.is(0.5) ? JSON.stringify(chance.pick(NASTY_TEXTS)) : chance.pick(NASTY_JSON)
}

export function nastyBody(chance: Chance): string | Buffer {
  return chance.pick(NASTY_BODIES)
}

/** An invalid value for a query or path, usually encoded. */
export function nastyEncoded(chance: Chance): string {
  return chance.is(0.3) ? chance.pick(NASTY_ENCODED) : encodeURIComponent(chance.pick(NASTY_TEXTS).toWellFormed()).slice(0, 8_000)
}

/** Ids and values that a field or path parameter may have, by name; valid requests use no others. */
export type ExistingValues = (field: string) => readonly (number | string)[]

/** A value that the schema allows, as JSON. */
export function goodJson(shape: Shape, field: string, chance: Chance, existing: ExistingValues): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum) return JSON.stringify(chance.pick(shape.enum))
  if (shape.anyOf) return goodJson(chance.pick(shape.anyOf), field, chance, existing)
  switch (shape.type) {
    case 'integer':
    case 'number': {
      const values = existing(field)
      if (values.length > 0) return JSON.stringify(chance.pick(values))
      return String(Math.min(shape.maximum ?? 50, Math.max(shape.minimum ?? shape.exclusiveMinimum ?? 0, 0) + 1 + chance.below(5)))
    }
    case 'boolean':
      return String(chance.is(0.5))
    case 'array':
      return `[${Array.from({ length: chance.below(3) + 1 }, () => goodJson(shape.items ?? {}, field, chance, existing)).join(',')}]`
    case 'object':
      return bodyOf(shape, chance, existing, 0)
    case 'null':
      return 'null'
    case 'string': {
      const values = existing(field)
      return JSON.stringify(values.length > 0 ? chance.pick(values) : goodText(shape, chance))
    }
    default:
      return nastyJson(chance)
  }
}

/** Numbers at and beyond the range of a column, and texts that PostgreSQL cannot store, as JSON. */
const EXTREME_NUMBERS = [
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740991',
  '-9007199254740991',
  '9223372036854775807',
  '9223372036854775808',
  '1e308',
  '0',
  '-1',
]
const EXTREME_TEXTS = [
  '"a\\u0000b"',
  '"\\u0000"',
  '"\\ud800"',
  '"x\\udc00"',
  '"a\\u202eb"',
  `"${'9'.repeat(19)}"`,
  `"${'x'.repeat(10_001)}"`,
  '"\'"',
  '":"',
]

/** A value of the schema's type, at least one part of which is extreme. */
export function extremeJson(shape: Shape, chance: Chance, existing: ExistingValues): string {
  if (shape.anyOf) return extremeJson(chance.pick(shape.anyOf), chance, existing)
  if (shape.type === 'array') return `[${extremeJson(shape.items ?? {}, chance, existing)}]`
  if (shape.type === 'integer' || shape.type === 'number') return chance.pick(EXTREME_NUMBERS)
  if (shape.type === 'object' && shape.properties) {
    const names = Object.keys(shape.properties)
    const extreme = chance.pick(names)
    const sent = names.filter((name) => name === extreme || shape.required?.includes(name) || chance.is(0.3))
    const jsonOf = (name: string) => {
      const property = shape.properties![name]!
      return name === extreme ? extremeJson(property, chance, existing) : goodJson(property, name, chance, existing)
    }
    return `{${sent.map((name) => `${JSON.stringify(name)}:${jsonOf(name)}`).join(',')}}`
  }
  if (shape.type === 'string' && !shape.enum && chance.is(0.3)) return chance.pick(EXTREME_NUMBERS.map((number) => `"${number}"`))
  return chance.pick(EXTREME_TEXTS)
}

function goodText(shape: Shape, chance: Chance): string {
  if (shape.format === 'date') return '2026-01-31'
  if (shape.format === 'date-time') return '2026-01-31T12:00:00Z'
  if (shape.format === 'uri') return 'https://receiver.invalid/x'
  return shape.examples && chance.is(0.7) ? String(chance.pick(shape.examples)) : `text ${chance.below(1_000)}`
}

/** An object of the schema; about this share of fields is invalid, missing, duplicated or unknown. */
export function bodyOf(shape: Shape, chance: Chance, existing: ExistingValues, wrong = 0.35): string {
  const members: string[] = []
  for (const [name, property] of Object.entries(shape.properties ?? {})) {
    const required = shape.required?.includes(name) ?? false
    if (chance.is(required ? wrong * 0.2 : 0.5)) continue
    const value = () => (chance.is(wrong) ? nastyJson(chance) : goodJson(property, name, chance, existing))
    members.push(`${JSON.stringify(name)}:${value()}`)
    if (chance.is(wrong * 0.1)) members.push(`${JSON.stringify(name)}:${value()}`)
  }
  if (chance.is(wrong * 0.3)) members.push(`${JSON.stringify(chance.pick([...NASTY_TEXTS, 'id', 'status', 'seller_id']))}:${nastyJson(chance)}`)
  return `{${members.join(',')}}`
}

const FIELD_TERMS: readonly string[] = [
  'set:base1',
  'r>=rare',
  'r>=nothing',
  'price<20',
  'price.source_a>=5',
  'price.nowhere>5',
  'price<1e400',
  'price>-0',
  'number:4',
  'number>=99999999999999999999',
  'name:"dark charizard"',
  'name:"',
  'label:"PSA 10"',
  'lang:ja',
  'finish!=holo',
  'nothing:1',
  '__proto__:1',
  ':',
  'r>=',
  '<=',
  '-',
  '--',
  '-(',
  '(',
  ')',
  '()',
  'or',
  'or or',
  '"',
  '\\"',
  'charizard',
  '\u202e',
  'ş',
]

/** A field query of valid and invalid terms, randomly nested or truncated. */
export function badFieldQuery(chance: Chance): string {
  const terms = Array.from({ length: 1 + chance.below(chance.is(0.1) ? 40 : 5) }, () => {
    const term = chance.is(0.1) ? chance.pick(NASTY_TEXTS).slice(0, 200) : chance.pick(FIELD_TERMS)
    return chance.is(0.2) ? `${'('.repeat(1 + chance.below(8))}${term}${')'.repeat(1 + chance.below(8))}` : term
  })
  const text = terms.join(chance.pick([' ', ' ', ' or ', ''])).toWellFormed()
  return chance.is(0.1) ? text.slice(0, chance.below(text.length + 1)) : text
}

/** A cursor of the service with a changed letter, part or length. */
export function changedCursor(cursors: readonly (number | string)[], chance: Chance): string {
  const cursor = String(cursors.length > 0 ? chance.pick(cursors) : '')
  const at = chance.below(cursor.length + 1)
  if (chance.is(0.3)) return `${cursor.slice(0, at)}${chance.pick(['', 'A', '=', '_', '\u0000', 'ş'])}${cursor.slice(at + 1)}`
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString() || '[]') as unknown[]
  const wrong: unknown = chance.pick([
    null,
    -1,
    0,
    1,
    2 ** 53,
    '',
    '0',
    '1:1:',
    '1:2:1',
    '2:1:',
    '9'.repeat(18),
    '9'.repeat(19),
    '1:1:@9999999999999999999',
    `${'9'.repeat(17)}:${'9'.repeat(18)}:`,
    [],
    {},
  ])
  if (chance.is(0.5)) parts[chance.below(parts.length + 1)] = wrong
  else parts.push(...Array.from({ length: 1 + chance.below(5) }, () => chance.pick([wrong, '1', 1, '1:1:'])))
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}
