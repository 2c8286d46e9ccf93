// `node reliability/backup.ts`: backs up a service during writes, restores the backup elsewhere, and compares both.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, runCommand, startService, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

export interface BackupOptions {
  /** duration of the load before and after the backup */
  seconds: number
}

export async function backupRun({ seconds }: BackupOptions): Promise<Finding[]> {
  const dir = workDir()
  const elsewhere = workDir()
  const file = join(dir.path, 'mintmark.backup.gz')
  const settings = { DATA_DIR: join(dir.path, 'data'), PORT: '0', OPERATOR_PORT: '0' }
  const restored = { ...settings, DATA_DIR: join(elsewhere.path, 'data'), MINTMARK_DEMO: '0' }
  let service = await startService(settings)
  try {
    const target = { publicUrl: () => service.publicUrl, operatorUrl: () => service.operatorUrl }
    const writes = await prepareWrites(target)
    writes.start()
    await pause(seconds * 1_000)
    const before = writes.mark()
    const started = performance.now()
    const written = await runCommand(settings, 'backup', file)
    const backupMs = performance.now() - started
    await pause(seconds * 1_000)
    await writes.stop()
    const after = writes.acknowledged()
    progress(`backup created: ${written.output}`)
    await service.kill('SIGINT')

    const read = await runCommand(restored, 'restore', file)
    service = await startService(restored)
    const verified = await writes.verify(before)
    const doctor = await runCommand(restored, 'doctor', '--json')
    // The run loads no exchange rates.
    const isProblem = ({ check, ok }: { check: string; ok: boolean }) => !ok && check !== 'rates'
    const wrong = doctor.code === 0 ? [] : (JSON.parse(doctor.output) as { findings: { check: string; ok: boolean }[] }).findings.filter(isProblem)
    const operator = async <T>(path: string) => (await ask<T>(`${service.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)).body
    const [collection] = (await operator<{ id: number; items_count: number }[]>('/collections')).data
    const records = (await ask<unknown[]>(`${service.publicUrl}/api/v1/plus/collections/${collection!.id}/items`, writes.key)).body.data.length
    const sales = (await operator('/sales?per_page=1')).pagination?.total ?? -1
    const orders = (await operator('/orders?per_page=1')).pagination?.total ?? -2
    progress('restored copy compared with the original')
    return [
      count('failures of backup and restore', [written, read].filter(({ code }) => code !== 0).length, 0),
      figure(
        'backup',
        `${Math.round(backupMs)} ms, ${Math.round(statSync(file).size / 1_024)} KB, ${before.acknowledged} writes before it, ${after - before.acknowledged} during and after`,
      ),
      ...verified.map(({ what, ...rest }) => ({ what: `in the restored copy: ${what}`, ...rest })),
      count('items_count of the collection minus records listed', collection!.items_count - records, 0),
      count('sales minus orders, by their totals', sales - orders, 0),
      count(`problems found by doctor${wrong.map(({ check }) => `, ${check}`).join('')}`, wrong.length, 0),
    ]
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    dir.remove()
    elsewhere.remove()
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
  conclude('backup while writing', await backupRun({ seconds: Number(values.seconds) }))
}
