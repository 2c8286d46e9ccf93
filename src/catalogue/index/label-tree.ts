// Groups and their grades in memory: names by id, and the order of labels in responses.
import { labelOrder } from '#core/labels.ts'

export interface LabelNode {
  id: number
  parentId: number | null
  name: string
  slug: string
}

export class LabelTree {
  #nodes = new Map<number, LabelNode>()
  #byLabel = new Map<string, LabelNode>()
  /** position of a grade's label in responses, by id */
  #rank: number[] = []
  /** id of Near Mint, 0 before the tree is loaded */
  nearMint = 0
  /** ids of all conditions */
  ungraded: ReadonlySet<number> = new Set()

  replace(nodes: LabelNode[]): void {
    this.#nodes = new Map(nodes.map((node) => [node.id, node]))
    const grades = nodes.filter((node) => node.parentId !== null)
    this.#byLabel = new Map(grades.map((node) => [node.name, node]))
    this.#rank = []
    const sorted = grades.map((node) => ({ id: node.id, key: labelOrder(node.name) })).sort((a, b) => (a.key < b.key ? -1 : 1))
    sorted.forEach(({ id }, position) => {
      this.#rank[id] = position
    })
    const group = nodes.find((node) => node.parentId === null && node.slug === 'ungraded')?.id
    this.nearMint = this.ofLabel('Near Mint')?.id ?? 0
    this.ungraded = new Set(grades.filter((node) => node.parentId === group).map((node) => node.id))
  }

  get(id: number): LabelNode | undefined {
    return this.#nodes.get(id)
  }

  /** The grade with a canonical label such as `PSA 10`. */
  ofLabel(label: string): LabelNode | undefined {
    return this.#byLabel.get(label)
  }

  rank(id: number): number {
    return this.#rank[id] ?? Number.MAX_SAFE_INTEGER
  }

  name(id: number): string {
    return this.#nodes.get(id)?.name ?? ''
  }

  /** All nodes; groups are those without a parent. */
  all(): LabelNode[] {
    return [...this.#nodes.values()]
  }
}
