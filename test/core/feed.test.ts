// Imported files: compression, encoding, NDJSON, JSON documents and CSV in all their variants.
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvRows, type FeedSource, gunzip, jsonEntries, ndjsonRows, utf8Text } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'

async function* pieces(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

function source(content: string | Uint8Array, size = 5): FeedSource {
  return {
    bytes: pieces(typeof content === 'string' ? new TextEncoder().encode(content) : content, size),
    fileName: null,
  }
}

const flat = async <T>(batches: AsyncIterable<T[]>) => (await Array.fromAsync(batches)).flat()
const text = async (content: string | Uint8Array) => (await Array.fromAsync(utf8Text(source(content).bytes))).join('')

describe('gunzip', () => {
  it('decompresses, including several members in one file', async () => {
    const packed = Buffer.concat([gzipSync('one '), gzipSync('two')])
    const parts = await Array.fromAsync(gunzip(pieces(packed, 3)))
    expect(Buffer.concat(parts).toString()).toBe('one two')
  })

  it.each([
    ['cut off', gzipSync('some text that is long enough').subarray(0, 20)],
    ['plain text', new TextEncoder().encode('id,name\n1,a\n')],
  ])('reports that %s is damaged', async (_, bytes) => {
    await expect(Array.fromAsync(gunzip(pieces(bytes, 7)))).rejects.toMatchObject({ why: reason('gzip_damaged') })
  })

  it('passes on the error of the input', async () => {
    async function* failing() {
      yield gzipSync('x')
      throw new Error('connection lost')
    }
    await expect(Array.fromAsync(gunzip(failing()))).rejects.toThrow('connection lost')
  })
})

describe('utf8Text', () => {
  it('removes the byte order mark and joins characters split between chunks', async () => {
    expect(await text('\ufeffPokémon ♀ 🃏')).toBe('Pokémon ♀ 🃏')
  })

  it.each([[[0x61, 0xff, 0x62]], [[0x61, 0xc3]]])('rejects invalid UTF-8: %s', async (bytes) => {
    await expect(text(new Uint8Array(bytes))).rejects.toMatchObject({ why: reason('utf8', { part: 'file' }) })
  })
})

describe('ndjsonRows', () => {
  it('numbers lines, skips blank ones and rejects values other than objects', async () => {
    expect(await flat(ndjsonRows(source('{"a":1}\r\n\n[1]\nnull\n{"a":\n{"b":"x\\ny"}')))).toEqual([
      { line: 1, value: { a: 1 } },
      { line: 3, reject: reason('json_object', { part: 'line' }) },
      { line: 4, reject: reason('json_object', { part: 'line' }) },
      { line: 5, reject: reason('json', { part: 'line' }) },
      { line: 6, value: { b: 'x\ny' } },
    ])
  })

  it('yields batches of a thousand', async () => {
    const batches = await Array.fromAsync(ndjsonRows(source('{}\n'.repeat(2_500), 4_096)))
    expect(batches.map((batch) => batch.length)).toEqual([1_000, 1_000, 500])
  })

  it('rejects a line that is too long', async () => {
    await expect(flat(ndjsonRows(source('x'.repeat(5_000_000), 65_536)))).rejects.toMatchObject({
      why: reason('line_size', { line: 1, max: 1, format: 'NDJSON' }),
    })
  })

  it('reads back what was written, wherever the chunks are split', async () => {
    const rows = fc.array(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 }), {
      maxLength: 20,
    })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 50 }), async (values, size) => {
        const written = values.map((value) => `${JSON.stringify(value)}\n`)
        const read = await flat(ndjsonRows(source(written.join(''), size)))
        expect(read).toEqual(written.map((line, i) => ({ line: i + 1, value: JSON.parse(line) })))
      }),
    )
  })
})

describe('jsonEntries', () => {
  const entries = (json: string, paths: string[], size?: number) => flat(jsonEntries(source(json, size), paths))
  const INVALID = { why: reason('json', { part: 'file' }) }

  it('yields the values at the paths in file order, wherever the chunks are split', async () => {
    const json = ' {"made": "today", "other": [{"list": 1}], "list": [1, {"a": "é😀", "list": [2]}, []], "made": null} '
    const expected = [
      { path: ['made'], value: 'today' },
      { path: ['list', 0], value: 1 },
      { path: ['list', 1], value: { a: 'é😀', list: [2] } },
      { path: ['list', 2], value: [] },
      { path: ['made'], value: null },
    ]
    for (const size of [1, 2, 3, 7, 1_000]) expect(await entries(json, ['$.made', '$.list.*'], size)).toEqual(expected)
    expect(await entries('[{"a":1},2]', ['$.*'])).toEqual([
      { path: [0], value: { a: 1 } },
      { path: [1], value: 2 },
    ])
  })

  it('rejects text that is not JSON', async () => {
    for (const json of ['', '{"a":1}\n{"a":2}', '{"list":[1', '{"list":[1]', '[1,]', '{"a" 1}', 'x', '"\\x"']) {
      await expect(entries(json, ['$.list.*'])).rejects.toMatchObject(INVALID)
    }
    await expect(flat(jsonEntries(source(new Uint8Array([0x5b, 0xff, 0x5d])), ['$.*']))).rejects.toMatchObject({
      why: reason('utf8', { part: 'file' }),
    })
  })

  it('rejects entries that are too large and nesting that is too deep', async () => {
    const long = 'x'.repeat(2_000_000)
    for (const json of [`["${long}"]`, `{"${long}":1}`, `[${'1'.repeat(2_000_000)}]`, `[{"a":[${'{},'.repeat(700_000)}1]}]`]) {
      await expect(entries(json, ['$.*'], 65_536)).rejects.toMatchObject({
        why: reason('at_most', { part: 'entry', units: 'bytes', max: 1024 * 1024 }),
      })
    }
    await expect(entries('['.repeat(100_000), ['$.*'])).rejects.toMatchObject({ why: reason('at_most', { part: 'file', units: 'levels', max: 100 }) })
    await expect(entries(`{"a":${'{"a":'.repeat(100_000)}`, ['$.list.*'])).rejects.toMatchObject({
      why: reason('at_most', { part: 'file', units: 'levels', max: 100 }),
    })
  })

  it('yields entries before the document ends', async () => {
    async function* endless() {
      yield new TextEncoder().encode('{"list":[{}')
      for (;;) yield new TextEncoder().encode(',{}'.repeat(1_000))
    }
    for await (const batch of jsonEntries({ bytes: endless(), fileName: null }, ['$.list.*'])) {
      expect(batch[0]).toEqual({ path: ['list', 0], value: {} })
      expect(batch.length).toBeLessThan(50_000)
      break
    }
  })
})

describe('csvRows', () => {
  const read = (csv: string, required: Parameters<typeof csvRows>[1] = ['a']) => flat(csvRows(source(csv), required))

  it.each([',', ';', '\t'])('finds the delimiter %j', async (delimiter) => {
    expect(await read(`${`a${delimiter}b,c`.replace(',', delimiter)}\n1${delimiter}"x,;\ty"${delimiter}3\n`)).toEqual([
      { line: 2, value: { a: '1', b: 'x,;\ty', c: '3' } },
    ])
  })

  it.each([
    ['\n', '\n'],
    ['\r\n', '\r\n'],
    ['\n', '\r\n'],
    ['\r\n', '\n'],
  ])('reads line ends %j and %j in one file', async (head, body) => {
    expect(await read(`a,b${head}1,2${body}3,4${body}5,6`)).toEqual([
      { line: 2, value: { a: '1', b: '2' } },
      { line: 3, value: { a: '3', b: '4' } },
      { line: 4, value: { a: '5', b: '6' } },
    ])
  })

  it('counts blank lines and line breaks within cells', async () => {
    expect(await read('\ufeffa , b\n\n1,"x\n""y"""\n3,4\n')).toEqual([
      { line: 4, value: { a: '1', b: 'x\n"y"' } },
      { line: 5, value: { a: '3', b: '4' } },
    ])
  })

  it('finds the header after blank lines', async () => {
    expect(await read('\n\na;b\n1;2\n')).toEqual([{ line: 4, value: { a: '1', b: '2' } }])
  })

  it('rejects a row with a different number of cells, and continues', async () => {
    expect(await read('a,b\n1\n1,2,3\n1,5" box\n')).toEqual([
      { line: 2, reject: reason('row_cells', { count: 1, other: 2 }) },
      { line: 3, reject: reason('row_cells', { count: 3, other: 2 }) },
      { line: 4, value: { a: '1', b: '5" box' } },
    ])
  })

  it('names the columns that are missing', async () => {
    await expect(read('a,b\n1,2', ['a', 'x', 'y'])).rejects.toMatchObject({ why: reason('header', { columns: ['x', 'y'] }) })
  })

  it('lets a format check the header itself, even without rows', async () => {
    const headers: string[][] = []
    await read('a,b\n', (header) => void headers.push([...header]))
    expect(headers).toEqual([['a', 'b']])
  })

  it.each(['', '  \n \n'])('rejects the empty file %j', async (csv) => {
    await expect(read(csv)).rejects.toMatchObject({ why: reason('file_empty') })
  })

  it('rejects a file with an unclosed quote, and one that is not UTF-8', async () => {
    await expect(read('a,b\n"1,2\n')).rejects.toMatchObject({ why: { rule: 'csv' } })
    await expect(flat(csvRows(source(new Uint8Array([0x61, 0x0a, 0xff, 0x0a])), ['a']))).rejects.toMatchObject({
      why: reason('utf8', { part: 'file' }),
    })
  })

  it('closes the input when the reader stops', async () => {
    let closed = false
    async function* endless() {
      try {
        yield new TextEncoder().encode('a\n')
        for (;;) yield new TextEncoder().encode('1\n'.repeat(1_000))
      } finally {
        closed = true
      }
    }
    for await (const batch of csvRows({ bytes: endless(), fileName: null }, ['a'])) {
      expect(batch).toHaveLength(1_000)
      break
    }
    expect(closed).toBe(true)
  })

  it('reads lines without quotes like the same lines after a quoted one', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', ',', '\t', ' '), maxLength: 6 })
    const line = fc.tuple(cell, fc.constantFrom('\n', '\r\n')).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), cell, fc.integer({ min: 1, max: 9 }), async (lines, last, size) => {
        const body = `1,2\n${lines.join('')}${last}`
        const plain = await flat(csvRows(source(`a,b\n${body}`, size), ['a', 'b']))
        const parsed = await flat(csvRows(source(`"a",b\n${body}`, size), ['a', 'b']))
        expect(plain).toEqual(parsed)
      }),
    )
  })

  it('rejects a line that is too long', async () => {
    await expect(flat(csvRows(source(`a\n${'x'.repeat(5_000_000)}`, 65_536), ['a']))).rejects.toMatchObject({
      why: reason('line_size', { line: 2, max: 1, format: 'CSV' }),
    })
  })

  it('ends a batch of long rows early to limit its size', { tags: 'slow' }, async () => {
    const cell = 'x'.repeat(500_000)
    for (const text of [`a\n${`${cell}\n`.repeat(50)}`, `"a"\n${`"${cell}"\n`.repeat(50)}`]) {
      const batches = await Array.fromAsync(csvRows(source(text, 65_536), ['a']))
      expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(6)
      expect(batches.flat()).toHaveLength(50)
    }
    const lines = await Array.fromAsync(ndjsonRows(source(`{"a":"${cell}"}\n`.repeat(50), 65_536)))
    expect(Math.max(...lines.map((batch) => batch.length))).toBeLessThanOrEqual(6)
  })

  it('rejects a header with thousands of columns', async () => {
    await expect(read(`a${',x'.repeat(2_000)}\n`)).rejects.toMatchObject({ why: reason('at_most', { part: 'header', units: 'columns', max: 1_000 }) })
  })

  it('reads back what was written, wherever the chunks are split', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ';', '\n', '\t', ' ') })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 10 }), fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const quote = (value: string) => `"${value.replaceAll('"', '""')}"`
        const csv = [['a', 'b'], ...rows].map((cells) => `${cells.map(quote).join(',')}\r\n`).join('')
        const found = await flat(csvRows(source(csv, size), ['a', 'b']))
        expect(found.map((entry) => ('value' in entry ? entry.value : entry.reject))).toEqual(rows.map(([a, b]) => ({ a, b })))
      }),
    )
  })
})
