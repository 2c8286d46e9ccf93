// The games are folders of data: all games load, errors name the file and the field, and a game can be removed without changing another.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { tagsOf, tagWords } from '#catalogue/index/search-tags.ts'
import { finishSlug } from '#catalogue/records/finishes.ts'
import { GAMES, gameOf } from '#games/games.ts'
import { loadGames } from '#games/load-games.ts'
import { compileForm, splitNumber } from '#games/number-forms.ts'
import { mintmarkNdjson } from '#catalogue/sources/mintmark-ndjson.ts'
import { categoriesOf, itemsOf, opened, readText, rejectsOf } from '../catalogue/sources/reading.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** A copy of the games with other contents of some files; null removes a file or folder. */
function copyWith(changes: Readonly<Record<string, string | null>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-games-'))
  folders.push(folder)
  cpSync(join(ROOT, 'games'), folder, { recursive: true })
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) rmSync(join(folder, path), { recursive: true })
    else writeFileSync(join(folder, path), text)
  }
  return folder
}

function problemsOf(changes: Parameters<typeof copyWith>[0]): string[] {
  try {
    loadGames(copyWith(changes))
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}

it('loads the games', () => {
  expect(GAMES.all.map(({ slug }) => slug)).toEqual(['fab', 'magic', 'onepiece', 'pokemon', 'yugioh'])
  expect([gameOf('pokemon').name, gameOf('onepiece').name]).toEqual(['Pokémon', 'One Piece'])
  expect(gameOf('pokemon').species[5]).toBe('charizard')
  expect([gameOf('pokemon').ranks.get('hyper rare'), gameOf('onepiece').ranks.get('treasure rare')]).toEqual([100, 100])
  expect(splitNumber(gameOf('onepiece').numbers.forms, 'OP01-001')).toEqual({ set: 'OP01', number: '001', total: false })
  expect(splitNumber(gameOf('pokemon').numbers.forms, '4')).toEqual({ set: null, number: '4', total: true })
  expect(Object.isFrozen(GAMES.all) && Object.isFrozen(gameOf('pokemon').finishes.words)).toBe(true)
})

it('gives a game without a folder what all games have in common', () => {
  expect(gameOf('unknown')).toBe(GAMES.common)
  expect([finishSlug('Reverse Holofoil', GAMES.common.finishes), finishSlug('p1', GAMES.common.finishes)]).toEqual(['reverse', 'p1'])
})

it('finds a printing by `unlimited` only in games whose sets have a first edition', () => {
  const isFound = (game: string, finish: string) => tagWords(tagsOf(finish, 'Rare', 'en', 'single', game)).includes('unlimited')
  expect(['Normal', 'Holo', 'First Edition', 'Shadowless Holo'].map((finish) => isFound('pokemon', finish))).toEqual([true, true, false, false])
  expect(['yugioh', 'fab', 'magic', 'onepiece', 'unknown'].map((game) => isFound(game, 'Normal'))).toEqual([true, true, false, false, false])
  expect([isFound('yugioh', 'Limited Edition'), isFound('fab', 'Alpha Cold Foil'), isFound('fab', 'Unlimited')]).toEqual([false, false, true])
})

it.each([
  ['pokemon/game.json', '{\n  "name": "Pokémon",\n}', /^games\/pokemon\/game\.json: .*line 3 column 1/],
  ['pokemon/game.json', '{}', 'games/pokemon/game.json: name is required and must be text of 1 to 200 characters'],
  [
    'onepiece/rarities.json',
    '{ "order": [{ "rank": "1", "rarities": [] }] }',
    /^games\/onepiece\/rarities\.json: order\.0\.rank must be a whole number/,
  ],
  ['common/finishes.json', '{ "word": {} }', /^games\/common\/finishes\.json: word is not allowed here; allowed fields: words, plain,/],
  ['common/finishes.json', '{ "words": { "foil": 1 } }', 'games/common/finishes.json: words.foil must be text of at most 200 characters'],
  ['common/finishes.json', '{ "words": { "Foil": "holo" } }', 'games/common/finishes.json: "Foil" must be written as "foil"'],
  ['pokemon/attributes.json', '{ "Color": "colour" }', /^games\/pokemon\/attributes\.json: Color must be one of rarity, finish/],
  ['pokemon/finish.json', '{}', /^games\/pokemon\/finish\.json: unknown file; allowed: game, finishes,/],
  ['pokemon/game.json', null, 'games/pokemon/game.json is missing'],
  [
    'pokemon/numbers.json',
    '{ "forms": [{ "set": ["digits", "capitals?"], "number": ["digits"] }] }',
    'games/pokemon/numbers.json: forms.0 has two parts "digits" without a required part between them',
  ],
  [
    'pokemon/numbers.json',
    '{ "forms": [{ "number": ["digit"] }] }',
    /^games\/pokemon\/numbers\.json: forms\.0 has the unknown part "digit"; allowed: /,
  ],
  [
    'pokemon/rarities.json',
    '{ "order": [{ "rank": 1, "rarities": ["Rare"] }, { "rank": 2, "rarities": ["rare"] }] }',
    'games/pokemon/rarities.json: order.1.rarities repeats "rare", which has rank 1',
  ],
] as const)('an invalid %s is refused with its field: %s', (path, text, problem) => {
  const expected: unknown = typeof problem === 'string' ? problem : expect.stringMatching(problem)
  expect(problemsOf({ [path]: text })).toEqual([expected])
})

it('names all problems of all files', () => {
  expect(problemsOf({ 'pokemon/sets.json': '[]', 'onepiece/sealed.json': '{ "words": [1] }' })).toEqual([
    expect.stringContaining('games/onepiece/sealed.json: words.0 '),
    expect.stringContaining('games/pokemon/sets.json: body '),
  ])
})

it.each(GAMES.all.map(({ slug }) => slug))('the other games are the same without %s', (removed) => {
  const [all, without] = [loadGames(copyWith()), loadGames(copyWith({ [removed]: null }))]
  expect(without.all).toEqual(all.all.filter(({ slug }) => slug !== removed))
  expect(without.common).toEqual(all.common)
  expect(loadGames(join(copyWith(), 'nothing')).all).toEqual([])
})

it('the game of the guide loads, and its cards are read', async () => {
  const guide = readFileSync(join(ROOT, 'docs/add-a-game.md'), 'utf8')
  const files = [...guide.matchAll(/^`games\/(digimon\/\w+\.json)`\n\n```json\n([\s\S]*?)^```/gm)].map(([, path, text]) => [path!, text!] as const)
  expect(files).toHaveLength(6)
  const folder = copyWith()
  mkdirSync(join(folder, 'digimon'))
  for (const [path, text] of files) writeFileSync(join(folder, path), text)
  const digimon = loadGames(folder).all[0]!
  expect([digimon.slug, finishSlug('Alternate Art', digimon.finishes)]).toEqual(['digimon', 'alternative-art'])
  expect(splitNumber(digimon.numbers.forms, 'BT1-084')).toMatchObject({ set: 'BT1', number: '084' })
  const rows = await readText(opened(mintmarkNdjson), /^`digimon\.ndjson`\n\n```json\n([\s\S]*?)^```/m.exec(guide)![1]!)
  expect([categoriesOf(rows).length, itemsOf(rows).length, rejectsOf(rows)]).toEqual([2, 3, []])
})

it('reads numbers of other games by declared forms', () => {
  const forms = [
    { set: ['capitals', 'digits?'], separator: '-', number: ['capitals?', 'digits'] },
    { set: ['capitals'], number: ['digits'] },
    { number: ['digits', 'lowercase?', '★?'] },
  ].map(compileForm)
  expect(['LOB-EN001', 'WTR000', '12a', '123★', '!'].map((number) => splitNumber(forms, number))).toEqual([
    { set: 'LOB', number: 'EN001', total: false },
    { set: 'WTR', number: '000', total: false },
    { set: null, number: '12a', total: false },
    { set: null, number: '123★', total: false },
    null,
  ])
})
