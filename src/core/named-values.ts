// Named lists of values, such as market codes, which OpenAPI documents define once under their name.

const names = new Map<string, string>()

/**
 * Names a list of values: an OpenAPI document refers to it wherever a schema allows exactly these values in this order.
 * @param name unique among these lists and the titles of schemas, such as `MarketCode`
 */
export function namedValues<const T extends readonly string[]>(name: string, values: T): T {
  names.set(JSON.stringify(values), name)
  return values
}

/** The name of a list of values, undefined if it has none. */
export function nameOfValues(values: readonly unknown[]): string | undefined {
  return names.get(JSON.stringify(values))
}
