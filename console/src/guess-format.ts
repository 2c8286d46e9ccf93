// Which import format a file is, by its first bytes: a proposal, the operator decides.

// In this order: what is more particular comes first.
export const MARKS: readonly [format: string, mark: RegExp][] = [
  ['mintmark-ndjson', /^\s*\{"type":\s*"(category|item|group)"/],
  ['cardmarket-price-guide', /"priceGuides"/],
  ['cardmarket-products', /"idProduct"/],
  ['singles-brl', /^\s*\{"key":[^\n]*"cardId"/],
  ['punk-records', /"(raw_title|block_number|img_full_url)"/],
  ['graded-guide', /^\s*\{[^\n]*"card_link"/],
  ['pokemontcg', /"(supertype|ptcgoCode|printedTotal)"/],
  ['tcgdex', /^\s*\{[^\n]*("localId"|"serie"|"cardCount"|"name":\s*\{)/],
  ['mintmark-prices-csv', /^(item_ref|"item_ref")\s*,/],
  ['sealed-daily', /^productId,date,/],
  ['pricecharting-csv', /^[^\n]*\bloose-price\b/],
  ['pokemontcg-prices', /^[^\n]*TCG Market Price USD/],
  ['tcgplayer-csv', /^[^\n]*(TCG Market Price|marketPrice|TCGplayer Id|subTypeName)/],
  ['tcgplayer-sealed', /^productId,name,cleanName,/],
]

/** The format whose marks the head of a file bears, null when none fits. */
export function guessFormat(head: string): string | null {
  const text = head.replace(/^\uFEFF/, '')
  return MARKS.find(([, mark]) => mark.test(text))?.[0] ?? null
}

const HEAD_BYTES = 4096

/** The first characters of a file, unpacked when it is gzip. */
export async function headOf(file: Blob): Promise<string> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const packed = first === 0x1f && second === 0x8b
  const stream = packed ? file.slice(0, 16 * HEAD_BYTES).stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let head = ''
  try {
    while (head.length < HEAD_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      head += decoder.decode(value, { stream: true })
    }
  } catch {
    // The slice ends before the packed file does; what was unpacked is enough.
  }
  reader.cancel().catch(() => {})
  return head.slice(0, HEAD_BYTES)
}
