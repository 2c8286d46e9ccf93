// `node reliability/mirror.ts [--changes 100000] [--kills 100]`: kills a mirror repeatedly while the catalogue changes.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MARKETS } from '#core/markets.ts'
import { conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, runCommand, type Service, startService, until, workDir } from './service.ts'

export interface MirrorRunOptions {
  /** number of changes: prices, items, categories, merges and imports */
  changes: number
  /** number of kills of the mirror, with -9 */
  kills: number
}

interface Item {
  id: number
  market: string
  name: string
}

const MAIN = join(import.meta.dirname, '../src/main.ts')
const LABELS = ['Near Mint', 'Lightly Played', 'PSA 10', 'PSA 9', 'CGC 9.5']
const PRICES_PER_REQUEST = 60
const MAX_LIFE_MS = 1_500
const DONE_MS = 60_000

const oneOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!

/** Creates a dump, then makes changes of every kind while the mirror is started and killed; compares both exports at the end. */
export async function mirrorRun({ changes, kills }: MirrorRunOptions): Promise<Finding[]> {
  const dir = workDir()
  const settings = {
    DATA_DIR: join(dir.path, 'data'),
    MINTMARK_DEMO: '1',
    RATE_LIMITS: 'off',
    DUMP_HOUR: 'off',
    OPERATOR_TOKEN,
    PRICE_HOLD_FACTOR: '1000',
  }
  let service: Service | null = null
  let mirror: ChildProcess | null = null
  try {
    service = await startService(settings)
    const { operatorUrl } = service
    const operator = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
      const { status, body } = await ask<T>(`${operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json, timeoutMs: DONE_MS })
      if (status >= 300 || status === 0) throw new Error(`${method} ${path} returned ${status}: ${body?.error?.message ?? 'no response'}`)
      return body.data
    }
    const account = await operator<{ id: number }>('POST', '/accounts', { name: 'Mirror', plan: 'professional' })
    const { key } = await operator<{ key: string }>('POST', `/accounts/${account.id}/keys`, {})
    await operator('POST', '/dumps')
    await until('the dump is created', async () => (await operator<{ running: unknown }>('GET', '/dumps')).running === null, DONE_MS)

    const copy = join(dir.path, 'copy.sqlite')
    const start = () =>
      spawn(process.execPath, [MAIN, 'mirror', service!.publicUrl, '--key', key, '--file', copy], {
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    const items = await operator<Item[]>('GET', '/items?per_page=100')
    const changesMade = { prices: 0, items: 0, categories: 0, merges: 0, imports: 0 }
    let done = 0
    const change = async (): Promise<void> => {
      const kind = Math.random()
      if (kind < 0.8) {
        const at = Date.now() - Math.floor(Math.random() * 1000)
        const rows = Array.from({ length: PRICES_PER_REQUEST }, (_, i) => ({
          item_id: oneOf(items).id,
          market: oneOf(MARKETS.slice(1)),
          label: oneOf(LABELS),
          price: Math.floor(100 + Math.random() * 9_900) / 100,
          updated_at: new Date(at + i).toISOString(),
        }))
        await operator('POST', '/prices', rows)
        changesMade.prices += rows.length
        done += rows.length
        return
      }
      if (kind < 0.92) {
        await operator('PATCH', `/items/${oneOf(items).id}`, { name: `Card ${done} “ışık”`, details: { hp: 10 + (done % 300) } })
        changesMade.items += 1
      } else if (kind < 0.95) {
        const [category] = await operator<{ id: number }[]>('GET', `/categories?per_page=1&page=${1 + (done % 10)}`)
        await operator('PATCH', `/categories/${category!.id}`, { name: `Set ${done}` })
        changesMade.categories += 1
      } else if (kind < 0.98) {
        const [from, into] = [oneOf(items), oneOf(items)]
        if (from.id === into.id) return
        const { batch_id } = await operator<{ batch_id: number }>('POST', `/items/${from.id}/merge`, { into: into.id })
        await pause(Math.random() * 20)
        await operator('POST', `/batches/${batch_id}/revert`)
        changesMade.merges += 1
      } else {
        changesMade.imports += 1
        await importOnce(operatorUrl, changesMade.imports)
      }
      done += 1
    }

    mirror = start()
    let output = ''
    const listen = (child: ChildProcess) => child.stderr!.setEncoding('utf8').on('data', (text: string) => (output = text.trim()))
    listen(mirror)
    const changing = (async () => {
      while (done < changes) await change()
    })()
    let killed = 0
    let finished = false
    changing.then(
      () => (finished = true),
      () => (finished = true),
    )
    while (killed < kills) {
      await pause(Math.random() * MAX_LIFE_MS)
      mirror.kill('SIGKILL')
      await once(mirror, 'exit')
      killed += 1
      mirror = start()
      listen(mirror)
      if (killed % 10 === 0) progress(`${killed} of ${kills} kills, ${done} of ${changes} changes; mirror: ${output}`)
    }
    while (!finished) {
      await pause(1_000)
      progress(`${done} of ${changes} changes; mirror: ${output}`)
    }
    await changing
    mirror.kill('SIGKILL')
    await once(mirror, 'exit')
    const [ours, theirs] = [join(dir.path, 'export.ndjson'), join(dir.path, 'mirror.ndjson')]
    const mirrored = await runCommand({}, 'mirror', service.publicUrl, '--key', key, '--file', copy, '--once', '--export', theirs)
    const exported = await runCommand(settings, 'export', ours)
    if (mirrored.code !== 0 || exported.code !== 0) throw new Error(`${mirrored.output} ${exported.output}`)
    const [lines, copied] = [ours, theirs].map((file) => new Set(readFileSync(file, 'utf8').split('\n')))
    const differences = [...lines!.symmetricDifference(copied!)]
    for (const line of differences.slice(0, 4)) progress(line.slice(0, 400))
    return [
      figure(
        'changes',
        Object.entries(changesMade)
          .map(([kind, number]) => `${number} ${kind}`)
          .join(', '),
      ),
      figure('kills of the mirror with -9', killed),
      figure('lines of the export', lines!.size),
      count('lines that differ between the export and the mirror', differences.length, 0),
    ]
  } finally {
    mirror?.kill('SIGKILL')
    await service?.kill('SIGINT')
    dir.remove()
  }
}

/** Imports a set of a few cards, and reverts every second import. */
async function importOnce(operatorUrl: string, number: number): Promise<void> {
  const set = { type: 'category', market: 'source_c', ref: `m${number}`, name: `Mirrored ${number}`, game: 'pokemon', parent: null, image: null }
  const cards = Array.from({ length: 5 }, (_, i) => ({
    type: 'item',
    market: 'source_c',
    ref: `m${number}:${i}`,
    name: `Card ${i}`,
    code: `${i}/5`,
    genre: 'single',
    game: 'pokemon',
    category: `m${number}`,
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [{ source: 'tcgdex', id: `m${number}-${i}` }],
    prices: [{ market: 'source_c', label: 'Near Mint', price: `${i + 1}.50`, updated_at: '2026-11-01T09:00:00Z' }],
  }))
  const sent = await fetch(`${operatorUrl}/operator/v1/imports/mintmark-ndjson`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' },
    body: [set, ...cards].map((line) => JSON.stringify(line)).join('\n'),
  })
  const { data } = (await sent.json()) as { data: { id: number } }
  const state = async () => (await ask<{ status: string }>(`${operatorUrl}/operator/v1/imports/${data.id}`, OPERATOR_TOKEN)).body.data.status
  await until('the import is done', async () => (await state()) === 'done', DONE_MS)
  if (number % 2 === 0) await ask(`${operatorUrl}/operator/v1/imports/${data.id}/revert`, OPERATOR_TOKEN, { method: 'POST', json: {} })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { changes: { type: 'string', default: '100000' }, kills: { type: 'string', default: '100' } } })
  conclude('a mirror killed while the catalogue changes', await mirrorRun({ changes: Number(values.changes), kills: Number(values.kills) }))
}
