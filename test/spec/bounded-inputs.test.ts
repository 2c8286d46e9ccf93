// No input of any operation may let a number reach SQL that its column cannot hold, or a text that PostgreSQL cannot store.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ServiceError } from '#core/errors.ts'
import type { Shape } from '#core/input.ts'
import type { Verb } from '#core/verb.ts'

const SOURCES = new URL('../../src/', import.meta.url)
/** Ids and version numbers. Unbounded, so that one that no row can have is "not found": `existing` and `idForSql` bound it. bad-input.test.ts sends such ids. */
const IDS = /^(id|ids|\w+_ids?|\w+Ids?|into|listing|version|groups|grade_filters)$/
const UNSTORABLE = ['\0', 'a\0b', '\ud800', 'a\udc00b']

type Declared = Verb<never, never, unknown> & { input: Shape }

async function verbs(): Promise<Declared[]> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && / = (?:verb|writeVerb|listVerb)\(/.test(readFileSync(new URL(file, SOURCES), 'utf8')),
  )
  const modules = await Promise.all(files.map((file) => import(new URL(file, SOURCES).href) as Promise<Record<string, unknown>>))
  return modules.flatMap((module) => Object.values(module).filter(isVerb))
}

function isVerb(value: unknown): value is Declared {
  return typeof value === 'object' && value !== null && 'input' in value && 'check' in value && 'run' in value
}

/** Every integer of a schema with its name. */
function integers(shape: Shape, name: string): [name: string, shape: Shape][] {
  if (shape.anyOf) return shape.anyOf.flatMap((branch) => integers(branch, name))
  if (shape.properties) return Object.entries(shape.properties).flatMap(([field, property]) => integers(property, field))
  if (shape.items) return integers(shape.items, name)
  return shape.type === 'integer' ? [[name, shape]] : []
}

/** A value for each text of a schema: the value with this text there, and nothing else. */
function withText(shape: Shape, text: string): unknown[] {
  if (shape.anyOf) return shape.anyOf.flatMap((branch) => withText(branch, text))
  if (shape.properties) {
    const fields = Object.entries(shape.properties)
    // A branch of a union is recognised by its constants.
    const constants = Object.fromEntries(fields.flatMap(([field, { const: value }]) => (value === undefined ? [] : [[field, value]])))
    return fields.flatMap(([field, property]) => withText(property, text).map((value) => ({ [field]: value, ...constants })))
  }
  if (shape.items) return withText(shape.items, text).map((value) => [value])
  return shape.type === 'string' && !shape.enum && shape.const === undefined ? [text] : []
}

/** The last name in a value of `withText`. */
function pathOf(value: unknown): string {
  if (Array.isArray(value)) return `0.${pathOf(value[0])}`
  if (typeof value !== 'object' || value === null) return ''
  const [[field, inner] = ['', '']] = Object.entries(value)
  return `${field}.${pathOf(inner)}`
}

test('every integer has bounds, or is an id', async () => {
  const all = await verbs()
  expect(all.length).toBeGreaterThan(180)
  const unbounded = all.flatMap(({ name, input }) =>
    integers(input, name).flatMap(([field, { minimum, exclusiveMinimum, maximum = Infinity }]) =>
      IDS.test(field) || ((minimum ?? exclusiveMinimum) !== undefined && maximum <= Number.MAX_SAFE_INTEGER) ? [] : `${name}.${field}`,
    ),
  )
  expect(unbounded).toEqual([])
})

test('every text is refused with NUL or half of a surrogate pair, naming its field', async () => {
  const accepted: string[] = []
  for (const { name, input, check } of await verbs()) {
    for (const value of UNSTORABLE.flatMap((text) => withText(input, text))) {
      const field = pathOf(value).slice(0, -1)
      let refused: readonly string[] = []
      try {
        check(value)
      } catch (error) {
        refused = (error as ServiceError).details.map((problem) => problem.field)
      }
      if (!refused.some((one) => one === field || field.startsWith(`${one}.`))) accepted.push(`${name}: ${JSON.stringify(value)}`)
    }
  }
  expect(accepted).toEqual([])
})
