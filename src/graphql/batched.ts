// Batches database reads that the resolvers of one response request one by one.

/**
 * Creates a reader of single values of one that reads many; everything that an answer asks for in one turn is one read.
 * @param read the values of the keys, in their order
 */
export function batched<Ctx extends object, Key, Value>(read: (ctx: Ctx, keys: Key[]) => Promise<Value[]>): (ctx: Ctx, key: Key) => Promise<Value> {
  const open = new WeakMap<Ctx, { keys: Key[]; values: Promise<Value[]> }>()
  return async (ctx, key) => {
    let batch = open.get(ctx)
    if (!batch) {
      const keys: Key[] = []
      // Resolvers of an answer run in one turn: what they ask for is known once it has ended.
      const values = Promise.resolve().then(() => {
        open.delete(ctx)
        return read(ctx, keys)
      })
      open.set(ctx, (batch = { keys, values }))
    }
    const position = batch.keys.push(key) - 1
    return (await batch.values)[position]!
  }
}
