// JSON texts of items as selections of queries have them, kept until the item changes: the same pages are asked for again.

interface KeptText {
  version: number
  text: string
}

/** Characters kept at most; twice that while the older half is still in use. */
const HALF_BUDGET = 12_000_000
const ROWS = 2 ** 26

export class KeptTexts {
  // What is asked for moves to the newer half; when that is full, the older half is forgotten whole.
  #newer = new Map<number, KeptText>()
  #older = new Map<number, KeptText>()
  #characters = 0
  #generation = -1

  /** Forgets everything when what many items have in common has changed. */
  follow(generation: number): void {
    if (generation === this.#generation) return
    this.#newer.clear()
    this.#older.clear()
    this.#characters = 0
    this.#generation = generation
  }

  get(selection: number, row: number, version: number): string | undefined {
    const key = selection * ROWS + row
    const newer = this.#newer.get(key)
    if (newer) return newer.version === version ? newer.text : undefined
    const older = this.#older.get(key)
    if (older?.version !== version) return undefined
    this.#put(key, older)
    return older.text
  }

  set(selection: number, row: number, version: number, text: string): void {
    this.#put(selection * ROWS + row, { version, text })
  }

  #put(key: number, kept: KeptText): void {
    this.#newer.set(key, kept)
    this.#characters += kept.text.length
    if (this.#characters < HALF_BUDGET) return
    this.#older = this.#newer
    this.#newer = new Map()
    this.#characters = 0
  }
}
