// Guesses the import format of a file from its first bytes, as a proposal to the operator.

import type { ImportFormat } from './api-types.ts'

/** The format with a mark that occurs in the head of the file; null if none does. */
export function guessFormat(head: string, formats: readonly Pick<ImportFormat, 'name' | 'marks'>[]): string | null {
  const text = textOf(head)
  const type = typeOf(text)
  const names = new Set(type === 'json' ? keysIn(text) : columnsOf(text))
  const bears = (mark: ImportFormat['marks'][number]) => mark.type === type && mark.names.every((name) => names.has(name))
  return formats.find(({ marks }) => marks.some(bears))?.name ?? null
}

/** The format that reads any price list of the file's type by a mapping; null if there is none. */
export function mappedFormat(head: string, formats: readonly Pick<ImportFormat, 'name' | 'mapped'>[]): string | null {
  const type = typeOf(textOf(head))
  return formats.find(({ name, mapped }) => mapped && name.endsWith(type))?.name ?? null
}

function textOf(head: string): string {
  return head.replace(/^\uFEFF/, '').trimStart()
}

function typeOf(text: string): 'json' | 'csv' {
  return /^[{[]/.test(text) ? 'json' : 'csv'
}

/** Keys of all objects at any depth: the head may end anywhere, so it cannot be parsed as JSON. */
function keysIn(json: string): string[] {
  return [...json.matchAll(/"([\w-]+)"\s*:/g)].map(([, key]) => key!)
}

function columnsOf(csv: string): string[] {
  return csv
    .split('\n', 1)[0]!
    .split(/[,;\t]/)
    .map((column) => column.trim().replace(/^"|"$/g, ''))
}

const HEAD_BYTES = 4096

/** The first characters of a file, unpacked if it is gzip. */
export async function headOf(file: Blob): Promise<string> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const packed = first === 0x1f && second === 0x8b
  const stream = packed
    ? file
        .slice(0, 16 * HEAD_BYTES)
        .stream()
        .pipeThrough(new DecompressionStream('gzip'))
    : file.stream()
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
    // The slice ends before the gzip data does; the part unpacked so far is enough.
  }
  reader.cancel().catch(() => {})
  return head.slice(0, HEAD_BYTES)
}
