// Batches database reads that the resolvers of one response request one by one.

/**
 * Turns a function that reads many values into one that reads single values: all reads of one event-loop turn become one.
 * @param read returns the values of the keys, in their order
 */
export function batched<Ctx extends object, Key, Value>(read: (ctx: Ctx, keys: Key[]) => Promise<Value[]>): (ctx: Ctx, key: Key) => Promise<Value> {
  const open = new WeakMap<Ctx, { keys: Key[]; values: Promise<Value[]> }>()
  return async (ctx, key) => {
    let batch = open.get(ctx)
    if (!batch) {
      const keys: Key[] = []
      // Resolvers of a response run in one turn of the event loop: all their reads are known when it ends.
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
