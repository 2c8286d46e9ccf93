// OpenAPI documents as tests read them.

/** A copy of a document with every reference replaced by its target. */
export function resolved<T>(document: T): T {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: string }
    if ($ref === undefined) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member)]))
    const [, ...steps] = $ref.split('/')
    return inner(steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document))
  }
  return inner(document) as T
}
