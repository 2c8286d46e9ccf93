// In-memory state whose time-based changes are postponed while its columns are written.

export abstract class Freezable {
  protected isFrozen = false

  /** Postpones time-based changes until `work` has ended. */
  async freeze<T>(work: () => Promise<T>): Promise<T> {
    this.isFrozen = true
    try {
      return await work()
    } finally {
      this.isFrozen = false
    }
  }
}
