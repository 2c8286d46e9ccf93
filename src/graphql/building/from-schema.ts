// GraphQL types, inputs and arguments from the schemas that REST uses, so that each resource is described once.
import type { Shape, Static, TSchema } from '#core/input.ts'
import { camelCase } from '../execution/errors.ts'
import { type Builder, cost } from './builder.ts'

type Scalar = 'ID' | 'Int' | 'Float' | 'String' | 'Boolean'
type AnyRef = Pick<ReturnType<Builder['objectRef']>, 'name'>
type AnyInput = Pick<ReturnType<Builder['inputRef']>, 'name'>

interface Titled extends Shape {
  title?: string
  description?: string
}

/** What a schema does not determine, by property. */
interface Differences<Ref> {
  /** properties that get no field */
  omit?: readonly string[]
  /** types that differ from those of the schema, and types of objects without a title */
  types?: Readonly<Record<string, Scalar | Ref>>
  /** descriptions that differ from those over REST */
  texts?: Readonly<Record<string, string>>
}

interface ObjectOptions extends Differences<AnyRef> {
  /** default: the title of the schema */
  name?: string
  /** default: the description of the schema */
  description?: string
  /** lists with the number of entries that a query is charged for */
  entries?: Readonly<Record<string, number>>
}

/** The object types of a schema, by the title of the schema they were derived from. */
const derived = new WeakMap<Builder, Map<string, AnyRef>>()

/**
 * An object type with a field for each property, in camel case. Ids are of type ID, values that may be null or absent are nullable, and
 * nested objects become types by their titles.
 * @throws Error for a property without a description
 */
export function objectFrom<S extends TSchema>(
  builder: Builder,
  schema: S,
  options: ObjectOptions = {},
): ReturnType<typeof builder.objectRef<Static<S>>> {
  const { title, properties = {}, description } = schema as Titled
  const { entries = {} } = options
  const name = options.name ?? title!
  const ref = builder.objectRef<Static<S>>(name)
  const byTitle = derived.get(builder) ?? new Map<string, AnyRef>()
  derived.set(builder, byTitle)
  if (title) byTitle.set(title, ref)
  const typeOf = (property: string, shape: Titled): unknown => {
    if (shape.properties === undefined) return scalarOf(property, shape)
    return byTitle.get(shape.title!) ?? objectFrom(builder, shape as TSchema)
  }
  const fields = fieldsOf(schema, name, options, typeOf, descriptionOf, ({ property, isNullable, ...field }) => ({
    ...field,
    nullable: isNullable,
    ...(entries[property] !== undefined && { extensions: cost({ entries: entries[property] }) }),
    resolve: (of: Record<string, unknown>) => of[property],
  }))
  ref.implement({
    description: sentence(options.description ?? description, name, properties),
    fields: (t) => Object.fromEntries(fields.map(([field, config]) => [field, t.field(config as never)])),
  })
  return ref
}

/** An input type with a field for each property of a verb's input. */
export function inputFrom(
  builder: Builder,
  schema: TSchema,
  { name, description, allOptional = false, ...differences }: Differences<AnyInput> & { name: string; description: string; allOptional?: boolean },
): ReturnType<typeof builder.inputRef<object>> {
  const shape = (allOptional ? { ...schema, required: [] } : schema) as TSchema
  const ref = builder.inputRef<object>(name)
  ref.implement({ description, fields: (t) => inputFields(shape, name, differences, (config) => t.field(config as never)) as never })
  return ref
}

type ArgumentBuilder = Parameters<NonNullable<Parameters<Builder['queryFields']>[0]>>[0]['arg']

/** Arguments for the properties of a verb's input, for `args` of a field. */
export function argumentsFrom(
  arg: ArgumentBuilder,
  schema: TSchema,
  differences: Differences<AnyInput> = {},
): Record<string, ReturnType<ArgumentBuilder>> {
  return inputFields(schema, 'argument', differences, (config) => arg(config as never)) as never
}

function inputFields(schema: TSchema, name: string, differences: Differences<AnyInput>, make: (config: object) => unknown): Record<string, unknown> {
  const omit = [...(differences.omit ?? []), ...('dry_run' in (schema as Titled).properties! ? ['dry_run'] : [])]
  const fields = fieldsOf(schema, name, { ...differences, omit }, scalarOf, describedInput, ({ type, description, isRequired: required }) =>
    make({ type, description, required }),
  )
  return Object.fromEntries(fields)
}

interface DerivedField {
  property: string
  type: unknown
  description: string
  isNullable: boolean
  isRequired: boolean
}

/** The fields of a schema's properties, by their GraphQL names. @throws Error for a property without a description, and one that does not exist */
function fieldsOf<Field>(
  schema: TSchema,
  name: string,
  { omit = [], types = {}, texts = {} }: Differences<unknown>,
  typeOf: (property: string, shape: Titled) => unknown,
  describe: (shape: Titled, inner: Titled) => string | undefined,
  make: (field: DerivedField) => Field,
): [name: string, field: Field][] {
  const { properties = {}, required = [] } = schema as Titled
  const missing = [...omit, ...Object.keys(types), ...Object.keys(texts)].find((property) => !(property in properties))
  if (missing) throw new Error(`The schema of ${name} has no property ${missing}`)
  return Object.entries(properties as Record<string, Titled>).flatMap(([property, shape]) => {
    if (omit.includes(property)) return []
    const { inner, isNullable } = withoutNull(shape)
    const isList = inner.type === 'array'
    const type = types[property] ?? typeOf(property, isList ? inner.items! : inner)
    const isRequired = required.includes(property)
    const description = sentence(texts[property] ?? describe(shape, inner), `${name}.${property}`, properties)
    return [[camelCase(property), make({ property, type: isList ? [type] : type, description, isRequired, isNullable: isNullable || !isRequired })]]
  })
}

/** The values of a shape that may be null. */
function withoutNull(shape: Titled): { inner: Titled; isNullable: boolean } {
  const others = shape.anyOf?.filter(({ type }) => type !== 'null') as Titled[] | undefined
  if (others?.length === 1) return { inner: others[0]!, isNullable: others.length < shape.anyOf!.length }
  return { inner: shape, isNullable: others !== undefined && others.length < shape.anyOf!.length }
}

function scalarOf(property: string, { type }: Shape): Scalar {
  if (type === 'integer') return property === 'id' || property === 'ids' || property.endsWith('_id') ? 'ID' : 'Int'
  return type === 'number' ? 'Float' : type === 'boolean' ? 'Boolean' : 'String'
}

/** The description of a property, with its values if it has a fixed set that the description does not explain. */
function descriptionOf(shape: Titled, inner: Titled): string | undefined {
  const text = shape.description ?? inner.description
  const values = inner.enum ?? (inner.const === undefined ? undefined : [inner.const])
  if (!values || text?.includes(`\`${String(values[0])}\``)) return text
  return text === undefined ? listed(values) : `${text}: ${listed(values)}`
}

/** The description of an input with its bounds and default, as the reference shows them for REST. */
function describedInput(shape: Titled, inner: Titled): string | undefined {
  const { minimum, maximum, maxLength, default: fallback } = inner
  const text = descriptionOf(shape, inner)
  const range =
    minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `, ${grouped(minimum)} to ${grouped(maximum)}` : ''
  const length =
    maxLength === undefined || maxLength > 1_000 || text?.toLowerCase().includes('at most') ? '' : `, at most ${grouped(maxLength)} characters`
  return text && `${text}${range}${length}${fallback === undefined ? '' : `; default: ${grouped(fallback)}`}`
}

function grouped(value: unknown): string {
  return typeof value === 'string' ? `\`${value}\`` : (value as number | boolean).toLocaleString('en-US')
}

function listed(values: readonly unknown[]): string {
  const quoted = values.map((value) => `\`${String(value)}\``)
  return quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

/** A description as a sentence, with the names of properties as GraphQL spells them. */
function sentence(text: string | undefined, of: string, properties: object): string {
  if (!text) throw new Error(`${of} has no description`)
  const renamed = text.replaceAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g, (quoted, name: string) => (name in properties ? `\`${camelCase(name)}\`` : quoted))
  return renamed.endsWith('.') ? renamed : `${renamed}.`
}
