// The commands `merge`, `merges` and `split`: text for people, one JSON value for programs.
import { Command, CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register } from '#cli/merge.ts'
import type { Merge } from '#identity/stored-merges.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { makeTwins } from './kit.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
})
afterAll(() => node.close())

async function mintmark(...args: string[]): Promise<string> {
  const lines: string[] = []
  const program = new Command('mintmark').exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  register(program, (run) => run(node.ctx, (read) => read(node.db)), (line) => lines.push(line))
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} })
  await program.parseAsync(args, { from: 'user' })
  return lines.join('\n')
}

test('items are merged, listed and split', async () => {
  const ids = await makeTwins(node, [{ ref: 'a', market: 'source_a', name: 'Card a' }, { ref: 'b', market: 'source_c', name: 'Card b' }])
  const [a, b] = [String(ids.a!), String(ids.b!)]
  expect(await mintmark('merge', a, '--into', b)).toBe(`Merged item ${a} into item ${b} by merge 1; undo it with: split 1`)
  expect(await mintmark('merges')).toMatch(new RegExp(`^ID +FROM +INTO +BY +AT +UNDONE\n1 +${a} Card a +${b} Card b +operator:test +\\S+ +-$`))
  await expect(mintmark('merge', a, '--into', b)).rejects.toThrow(`Item ${a} is already merged into item ${b}`)
  expect(await mintmark('split', '1')).toBe(`Reverted merge 1; item ${a} is restored`)
  const again = JSON.parse(await mintmark('merge', b, '--into', a, '--json')) as Merge
  expect(again).toMatchObject({ id: 2, from: { id: ids.b! }, into: { id: ids.a! } })
  expect((JSON.parse(await mintmark('merges', '--item', b, '--json')) as Merge[]).map(({ id }) => id)).toEqual([2, 1])
})

test('wrong usage is refused', async () => {
  for (const args of [['merge', '1'], ['merge', 'x', '--into', '2'], ['merge', '1', '--into', 'y'], ['split'], ['split', 'z']]) {
    await expect(mintmark(...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
  await expect(mintmark('split', '999')).rejects.toThrow('Batch not found')
})
