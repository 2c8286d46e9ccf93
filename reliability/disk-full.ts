// `node reliability/disk-full.ts`: fills the disk of the embedded database with an import, then makes space available again.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdirSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atMost, conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, runCommand, startService, until, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

export interface DiskFullOptions {
  /** items of the import, about 2 KB each */
  items: number
  /** initial size of the disk */
  megabytes: number
}

/** Requires root, to mount a small in-memory disk. */
export function canMount(): boolean {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return false
  const dir = workDir()
  try {
    mount(dir.path, 1)
    unmount(dir.path)
    return true
  } catch {
    return false
  } finally {
    dir.remove()
  }
}

export async function diskFullRun({ items, megabytes }: DiskFullOptions): Promise<Finding[]> {
  const dir = workDir()
  const disk = join(dir.path, 'disk')
  mkdirSync(disk)
  mount(disk, megabytes)
  process.once('exit', () => unmount(disk))
  const file = join(dir.path, 'large.ndjson')
  await writeItems(file, items)
  const settings = { DATA_DIR: join(disk, 'data'), PORT: '0', OPERATOR_PORT: '0' }
  const service = await startService(settings)
  try {
    const writes = await prepareWrites({ publicUrl: () => service.publicUrl, operatorUrl: () => service.operatorUrl })
    writes.start()
    let reading = true
    let reads = 0
    let failedReads = 0
    const reader = (async () => {
      while (reading) {
        reads += 1
        if ((await ask(`${service.publicUrl}/api/v1/items/${writes.itemId}`, writes.key)).status !== 200) failedReads += 1
        await pause(20)
      }
    })()
    const failed = await runCommand(settings, 'import', 'mintmark-ndjson', file)
    progress(`the import exited with code ${failed.code}: ${failed.output.split('\n').at(-1)}`)
    await pause(1_000)
    const imported = async () => (await ask(`${service.publicUrl}/api/v1/items/search?q=Large`, writes.key)).body.pagination?.total ?? -1
    const leftItems = await imported()
    mount(disk, megabytes + 2_000, 'remount,')
    const spaceAt = performance.now()
    await until('writes are accepted again', () => writes.answers.some(({ at, status }) => at > spaceAt && status > 0 && status < 300))
    const recoveryMs = performance.now() - spaceAt
    const repeated = await runCommand(settings, 'import', 'mintmark-ndjson', file)
    await until('the service lists all items', async () => (await imported()) === items).catch((error: Error) => progress(error.message))
    const importedItems = await imported()
    const stuck = (await ask<{ status: string }[]>(`${service.operatorUrl}/operator/v1/imports?per_page=50`, OPERATOR_TOKEN)).body.data.filter(
      ({ status }) => status === 'running' || status === 'queued',
    ).length
    reading = false
    await reader
    await writes.stop()
    const malformed = writes.answers.filter(({ status, wellFormed }) => status >= 500 && (status !== 503 || !wellFormed)).length
    return [
      figure('disk', `${megabytes} MB, an import of ${items} items`),
      count('exit code of the import on the full disk', failed.code ?? -1, 1),
      figure('its error message', failed.output.split('\n').at(-1) ?? ''),
      count('lines of its error message', failed.output.split('\n').length, 1),
      count('items left by the failed import', leftItems, 0),
      count(`failed reads from memory of ${reads}`, failedReads, 0),
      count('errors other than 503 with envelope and Retry-After', malformed, 0),
      count('unexpected exits of the process', service.ended() === null ? 0 : 1, 0),
      atMost('writes accepted again after space was available', recoveryMs / 1_000, 5, ' s'),
      count('exit code of the repeated import', repeated.code ?? -1, 0),
      count('items missing after the repeated import', items - importedItems, 0),
      count('imports left queued or running', stuck, 0),
      ...(await writes.verify()),
    ]
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    unmount(disk)
    dir.remove()
  }
}

async function writeItems(file: string, items: number): Promise<void> {
  const out = createWriteStream(file)
  const common = { market: 'source_b', images: [], attributes: [], groups: [], prices: [], foreign_ids: [] }
  out.write(
    `${JSON.stringify({ type: 'category', market: 'source_b', ref: 'large', name: 'Everything', game: 'pokemon', parent: null, image: null })}\n`,
  )
  for (let i = 0; i < items; i++) {
    // Random, so that it cannot be compressed.
    const details = { types: Array.from({ length: 50 }, () => randomBytes(20).toString('hex')) }
    const item = {
      ...common,
      type: 'item',
      ref: `large:${i}`,
      name: `Large ${i}`,
      code: String(i),
      genre: 'single',
      game: 'pokemon',
      category: 'large',
      details,
    }
    if (!out.write(`${JSON.stringify(item)}\n`)) await new Promise((resolve) => out.once('drain', resolve))
  }
  out.end()
  await finished(out)
}

function mount(path: string, megabytes: number, more = ''): void {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `${more}size=${megabytes}m,mode=0755`, 'tmpfs', path], { stdio: 'pipe' })
}

/** Ignores that it may already be unmounted, since this also runs at exit. */
function unmount(path: string): void {
  spawnSync('umount', ['-l', path])
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { items: { type: 'string', default: '40000' }, megabytes: { type: 'string', default: '100' } } })
  if (canMount()) conclude('disk full while importing', await diskFullRun({ items: Number(values.items), megabytes: Number(values.megabytes) }))
  else console.log('Skipped: mounting a small disk requires root')
}
