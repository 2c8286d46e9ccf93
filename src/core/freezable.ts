// A state in memory whose changes by the clock are postponed while its columns are written.

export abstract class Freezable {
  protected isFrozen = false

  /** Postpones changes by the clock until `work` has ended. */
  async freeze<T>(work: () => Promise<T>): Promise<T> {
    this.isFrozen = true
    try {
      return await work()
    } finally {
      this.isFrozen = false
    }
  }
}
