// The commands `merge`, `merges`, `split` and `matches`: human-readable text, or one JSON value for programs.
import { CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register as registerMatches } from '#cli/matches.ts'
import { register } from '#cli/merge.ts'
import type { Match } from '#identity/review/matches.ts'
import type { SetMatch } from '#identity/review/set-matches.ts'
import type { Merge } from '#identity/merge/stored-merges.ts'
import { pokemontcgCards, pokemontcgSets, tcgdexCards, tcgdexSets } from '../imports/one-card.ts'
import { runCommand } from '../support/command-line.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'
import { makeTwins } from './kit.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
})
afterAll(() => node.close())

const mintmark = async (...args: string[]) => (await runCommand(node, [register, registerMatches], args)).text

test('items are merged, listed and split', async () => {
  const ids = await makeTwins(node, [
    { ref: 'a', market: 'source_a', name: 'Card a' },
    { ref: 'b', market: 'source_c', name: 'Card b' },
  ])
  const [a, b] = [String(ids.a!), String(ids.b!)]
  expect(await mintmark('merge', a, '--into', b)).toBe(`Merged item ${a} into item ${b} by batch 1; revert it with: split 1`)
  expect(await mintmark('merges')).toMatch(new RegExp(`^ID +FROM +INTO +BY +AT +UNDONE\n1 +${a} Card a +${b} Card b +operator:test +\\S+ +-$`))
  await expect(mintmark('merge', a, '--into', b)).rejects.toThrow(`Item ${a} is already merged into item ${b}`)
  expect(await mintmark('split', '1')).toBe(`Reverted batch 1; item ${a} is restored`)
  const again = JSON.parse(await mintmark('merge', b, '--into', a, '--json')) as Merge
  expect(again).toMatchObject({ id: 2, from: { id: ids.b! }, into: { id: ids.a! } })
  expect((JSON.parse(await mintmark('merges', '--item', b, '--json')) as Merge[]).map(({ id }) => id)).toEqual([2, 1])
})

test('wrong usage is rejected', async () => {
  for (const args of [['merge', '1'], ['merge', 'x', '--into', '2'], ['merge', '1', '--into', 'y'], ['split'], ['split', 'z']]) {
    await expect(mintmark(...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
  await expect(mintmark('split', '999')).rejects.toThrow('Batch not found')
})

test('matches are listed, accepted, separated, postponed and withdrawn', async () => {
  await importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
  const differing = pokemontcgCards.replaceAll(/"hp":"\d+"/g, '"hp":"999"')
  await importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: differing },
  ])
  const found = JSON.parse(await mintmark('matches', 'list', '--json')) as Match[]
  expect(found.map(({ record }) => record.foreign_id).sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `base1-${n}`))
  const [first, second] = found as [Match, Match]
  expect(await mintmark('matches', 'list', '--reason', 'hp', '--set', 'Base')).toMatch(
    new RegExp(
      `^ID +SOURCE +RECORD +NAME +NUMBER +REASON +CANDIDATES\n${first.id} +pokemontcg +base1-1 +Alakazam +1/102 +hit points differ: 999 and 50 +\\d+ Alakazam`,
    ),
  )
  expect(await mintmark('matches', 'list', '--game', 'onepiece')).toMatch(/^ID [^\n]+$/)
  const into = first.candidates[0]!.item.id
  const [id, next] = [String(first.id), String(second.id)]
  expect(await mintmark('matches', 'accept', id, '--item', String(into))).toBe(`Match ${id} accepted; the record is item ${into}`)
  await expect(mintmark('matches', 'separate', id)).rejects.toThrow(`Match ${id} is already accepted by operator:test`)
  expect(JSON.parse(await mintmark('matches', 'separate', next, '--json'))).toMatchObject({ id: second.id, decision: { kind: 'separated' } })
  expect(await mintmark('matches', 'withdraw', next)).toBe(`Match ${next} is pending again`)
  expect(await mintmark('matches', 'postpone', next)).toBe(`Match ${next} postponed`)
  expect((JSON.parse(await mintmark('matches', 'list', '--state', 'postponed', '--json')) as Match[]).map((match) => match.id)).toEqual([second.id])

  expect(await mintmark('matches', 'sets')).toMatch(/^ID +REF +NAME +WAITING +RESEMBLES\n\d+ +tcgdex:set:base1 +Base Set +0 +\d+ Base Set \(0 of 2\)/)
  const [{ id: set }] = JSON.parse(await mintmark('matches', 'sets', '--json')) as [SetMatch]
  expect(await mintmark('matches', 'separate-set', String(set))).toMatch(/^Set \d+ separated; \d of its cards are still pending$/)
  await expect(mintmark('matches', 'accept-set', String(set))).rejects.toThrow(
    `Set ${set} is already decided by operator:test; withdraw that decision first`,
  )
  expect(await mintmark('matches', 'withdraw-set', String(set))).toBe(`Decisions about set ${set} withdrawn`)
  for (const args of [
    ['accept', '1'],
    ['accept', 'x', '--item', '1'],
    ['separate'],
    ['list', '--state', 'open'],
    ['list', '--reason', 'x'],
    ['accept-set', '1', '--set', 'y'],
  ]) {
    await expect(mintmark('matches', ...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
})
