// The picture of an item where a row has only its id; the ids of a page are requested together.
import { useEffect, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { Picture, type Pictured } from './picture.tsx'

const CACHE_MS = 60_000
/** Maximum ids of one request to the service. */
const AT_ONCE = 100
const UNKNOWN: Pictured = { images: [], name: '' }

const cache = new Map<number, { item: Promise<Pictured>; requestedAt: number }>()
let asking: { ids: number[]; answer: Promise<Map<number, Pictured>> } | null = null

function pictured(id: number): Promise<Pictured> {
  const cached = cache.get(id)
  if (cached && Date.now() - cached.requestedAt < CACHE_MS) return cached.item
  if (!asking || asking.ids.length >= AT_ONCE) {
    const ids: number[] = []
    asking = { ids, answer: Promise.resolve().then(() => read(ids)) }
  }
  asking.ids.push(id)
  const item = asking.answer.then(
    (items) => items.get(id) ?? UNKNOWN,
    () => UNKNOWN,
  )
  cache.set(id, { item, requestedAt: Date.now() })
  return item
}

async function read(ids: number[]): Promise<Map<number, Pictured>> {
  asking = null
  const { data } = await request('GET', '/items', { query: { id: ids, per_page: AT_ONCE } })
  return new Map(data.map((item) => [item.id, item]))
}

/** The picture of an item in the size of tables; a placeholder reserves its space. */
export function ItemPicture({ id }: { id: number }) {
  const [item, setItem] = useState(UNKNOWN)
  useEffect(() => {
    let here = true
    void pictured(id).then((found) => here && setItem(found))
    return () => {
      here = false
    }
  }, [id])
  return <Picture item={item} small />
}
