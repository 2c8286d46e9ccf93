// Object types that results of many mutations share.
import type { Builder } from '../building/builder.ts'

/** The result of a mutation that returns nothing but its message. */
export function messageType(builder: Builder, name: string, description: string, { nullable = false } = {}) {
  const ref = builder.objectRef<{ message: string }>(name)
  return ref.implement({ description, fields: (t) => ({ success: successField(t), message: t.exposeString('message', { ...MESSAGE, nullable }) }) })
}

const MESSAGE = { nullable: false, description: 'Human-readable message.' } as const
const SUCCESS = { nullable: false, description: 'Always true: a failed mutation returns null and an error.', resolve: () => true } as const

/** The field `success` of every result of a mutation. */
export function successField<Field>(t: { boolean: (options: typeof SUCCESS) => Field }): Field {
  return t.boolean(SUCCESS)
}

/** Why something is as it is: a message and the name of its rule. */
export function reasonType(builder: Builder, name: string, description: string) {
  return builder.objectRef<{ message: string; rule?: string | undefined }>(name).implement({
    description,
    fields: (t) => ({
      message: t.exposeString('message', MESSAGE),
      rule: t.exposeString('rule', { nullable: true, description: 'Machine-readable name of the rule.' }),
    }),
  })
}

const warningTypes = new WeakMap<Builder, ReturnType<typeof reasonType>>()

/** What to check before setting a price: one type of the schema, wherever a price is forecast. */
export function priceWarningType(builder: Builder): ReturnType<typeof reasonType> {
  const existing = warningTypes.get(builder)
  if (existing) return existing
  const type = reasonType(builder, 'PriceWarning', 'What to check before setting a price.')
  warningTypes.set(builder, type)
  return type
}
