// A program without the folder of a game: it starts, serves the items of all games, and reads files of the game.
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { endAll, ended, freshDataDir, launch, printedKeys, serve, stop } from './service.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const copy = mkdtempSync(join(tmpdir(), 'mintmark-without-'))
const MAIN = join(copy, 'src/main.ts')
afterAll(async () => {
  await endAll()
  rmSync(copy, { recursive: true, force: true })
})

test('without Pokémon', async () => {
  for (const part of [
    'src',
    'games',
    'sample',
    'package.json',
    'client',
    'docs',
    'examples',
    'CHANGELOG.md',
    'LICENSE',
    'NOTICE',
    'SECURITY.md',
    'bin',
  ]) {
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  }
  for (const part of ['node_modules', 'dist']) symlinkSync(join(ROOT, part), join(copy, part))
  rmSync(join(copy, 'games/pokemon'), { recursive: true })
  const settings = { DATA_DIR: freshDataDir() }
  const service = await serve(settings, [], MAIN)
  const headers = { Authorization: `Bearer ${printedKeys(service.greeting)['Professional key']}` }
  const get = async (query: string) => (await (await fetch(`${service.publicUrl}/api/v1/${query}`, { headers })).json()) as Answer
  interface Answer {
    data: { name: string; game: string }[]
    pagination: { total: number }
  }
  expect((await get('items?game=pokemon')).pagination.total).toBeGreaterThan(200)
  expect((await get('items/search?q=charizard')).data[0]?.game).toBe('pokemon')
  expect((await get('items/search?q=luffy')).data[0]?.game).toBe('onepiece')
  const card = {
    id: 'base1-4',
    localId: '4',
    name: { en: 'Charizard' },
    set: 'base1',
    rarity: 'Rare',
    category: 'Pokemon',
    variants: [{ type: 'holo' }],
  }
  writeFileSync(
    join(copy, 'cards.ndjson'),
    [{ id: 'base', name: { en: 'Base' } }, { id: 'base1', name: { en: 'Base Set' }, serie: 'base' }, card]
      .map((row) => JSON.stringify(row))
      .join('\n'),
  )
  await stop(service)
  const { code, said, out } = await ended(launch(['import', 'tcgdex', join(copy, 'cards.ndjson')], settings, MAIN))
  expect([code, said]).toEqual([0, []])
  expect(out).toMatch(/ [1-9]\d* created, .* 0 rejected/)

  writeFileSync(join(copy, 'games/onepiece/numbers.json'), '{ "forms": 3 }')
  expect(await ended(launch([], settings, MAIN))).toMatchObject({
    code: 1,
    said: ['mintmark: the data of the games is invalid', expect.stringContaining('games/onepiece/numbers.json: forms must be a list')],
  })
})
