// Imports: files dropped here, and how every import and price post went.
import { useRef, useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { asApiError, useVersion } from '#ui/data.ts'
import { Field, valuesOf } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Progress, Refusal, Status } from '#ui/states.tsx'
import { List, upload, useData } from '../api.ts'
import { type FirstRows, firstRows } from '../first-rows.ts'
import { guessFormat, headOf } from '../guess-format.ts'
import { type Import, type ImportFormat, importFormatKindValues as FORMAT_KINDS, importStatusValues as IMPORT_STATUSES } from '../api-types.ts'
import { ColumnMapping, type Draft, draftOf, parametersOf } from '../ui/column-mapping.tsx'
import { count, moment, share, t, term } from '../words.ts'
import { marketOptions } from '../ui/market-options.ts'

const SOON_MS = 1_000

export function ImportTabs({ current }: { current: 'imports' | 'rates' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/imports', text: t('imports'), current: current === 'imports' },
        { href: '/console/rates', text: t('rates'), current: current === 'rates' },
      ]}
    />
  )
}

const isUnderWay = ({ status }: Pick<Import, 'status'>) => status === 'queued' || status === 'running'

export function ImportsPage() {
  const [version, changed] = useVersion()
  const formats = useData('/import-formats').data ?? []
  return (
    <>
      <Heading>{t('imports')}</Heading>
      <ImportTabs current="imports" />
      <Drop formats={formats} onStarted={changed} />
      <List
        path="/imports"
        caption={t('imports')}
        empty={t('noImports')}
        version={version}
        again={(imports) => (imports.some(isUnderWay) ? SOON_MS : null)}
        filters={[
          { name: 'search', label: t('fileName'), type: 'search' },
          { name: 'format', label: t('format'), options: formats.map(({ name }) => ({ value: name, text: name })) },
          { name: 'status', label: t('state'), options: IMPORT_STATUSES.map((code) => ({ value: code, text: term('status', code) })) },
        ]}
        rowKey={(row) => row.id}
        columns={[
          {
            head: t('import'),
            width: '16%',
            cell: (row) => (
              <a class="file" href={`/console/imports/${row.id}`} title={row.file_name ?? undefined}>
                #{row.id} {row.file_name ?? row.format}
              </a>
            ),
          },
          { head: t('format'), width: '11%', wide: true, cell: (row) => row.format },
          { head: t('state'), width: '12%', cell: (row) => <ImportState of={row} /> },
          { head: t('rows'), width: '8%', number: true, wide: true, cell: (row) => count(row.rows_read) },
          { head: t('count.created'), width: '8%', number: true, wide: true, cell: (row) => count(row.created) },
          { head: t('count.updated'), width: '9.5%', number: true, wide: true, cell: (row) => count(row.updated) },
          { head: t('accepted'), width: '8%', number: true, cell: (row) => count(row.accepted) },
          { head: t('held'), width: '8.5%', number: true, cell: (row) => count(row.held) },
          { head: t('rejected'), width: '9%', number: true, cell: (row) => count(row.rejected) },
          { head: t('when'), width: '10%', wide: true, sort: 'started_at', cell: (row) => moment(row.started_at) },
        ]}
      />
    </>
  )
}

const MUCH = 0.1

export function ImportState({ of }: { of: Import }) {
  if (of.status === 'running') return <Progress percent={of.percent} label={`#${of.id}`} />
  const refused = of.rejected / Math.max(1, of.rows_read)
  const refusedMuch = of.status === 'done' && refused > MUCH
  return (
    <>
      <Status code={of.status} {...(refusedMuch && { tone: 'wait' })} />{' '}
      {refusedMuch && <span class="quiet">{t('shareRejected', { share: share(Math.min(1, refused)) })}</span>}{' '}
      {of.dry_run && <span class="status">{t('dryRun')}</span>}
      {of.reverted_by_import_id !== null && <span class="status bad">{t('reverted')}</span>}
    </>
  )
}

interface Waiting {
  file: File
  format: string
  /** for a list that is read by a mapping */
  rows: FirstRows
  draft: Draft
  /** share that is sent, null before */
  sent: number | null
  importId: number | null
  error: ApiError | null
}

/** Files to be imported: each with its guessed format, sent one after another. */
function Drop({ formats, onStarted }: { formats: ImportFormat[]; onStarted: () => void }) {
  const [files, setFiles] = useState<Waiting[]>([])
  const [over, setOver] = useState(false)
  const [busy, setBusy] = useState(false)
  const [market, setMarket] = useState('')
  const [savedVersion, savedChanged] = useVersion()
  const saved = useData('/price-mappings', { version: savedVersion }).data ?? []
  const isMapped = (format: string) => formats.some(({ name, mapped }) => mapped && name === format)
  const form = useRef<HTMLFormElement>(null)
  const add = async (list: FileList | null | undefined) => {
    const added = await Promise.all(
      [...(list ?? [])].map(async (file): Promise<Waiting> => {
        const head = await headOf(file)
        const rows = firstRows(head, head.length === file.size)
        return { file, format: guessFormat(head, formats) ?? '', rows, draft: draftOf(rows), sent: null, importId: null, error: null }
      }),
    )
    setFiles((old) => [...old.filter((one) => one.importId === null), ...added])
  }
  const update = (file: File, changes: Partial<Waiting>) => {
    setFiles((old) => old.map((one) => (one.file === file ? { ...one, ...changes } : one)))
  }
  const start = async () => {
    const values = valuesOf(form.current!)
    setBusy(true)
    for (const { file, format, draft } of files.filter((one) => one.importId === null)) {
      update(file, { sent: 0, error: null })
      try {
        const { id } = await upload({
          format,
          market: values.market ?? '',
          dryRun: values.dry !== undefined,
          ...(isMapped(format) && { mapping: parametersOf(draft) }),
          file,
          onProgress: (sent) => update(file, { sent }),
        })
        update(file, { importId: id, sent: 1 })
        onStarted()
        if (isMapped(format)) savedChanged()
      } catch (error) {
        update(file, { sent: null, error: asApiError(error) })
      }
    }
    setBusy(false)
  }
  const unsent = files.filter((one) => one.importId === null)
  return (
    <form
      ref={form}
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void add(event.dataTransfer?.files)
      }}
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) void start()
      }}
    >
      <label class="files">
        <strong>{t('dropFiles')}</strong>
        <span class="quiet">{t('dropHint')}</span>
        {/* In place of the browser's own button, which speaks the browser's language. */}
        <span class="button" aria-hidden="true">
          {t('chooseFiles')}
        </span>
        <input
          class="hidden"
          type="file"
          multiple
          onChange={(event) => {
            void add(event.currentTarget.files)
            event.currentTarget.value = ''
          }}
        />
      </label>
      {files.length > 0 && (
        <ul class="waiting">
          {files.map(({ file, format, rows, draft, sent, importId, error }) => (
            <li key={`${file.name} ${file.lastModified}`}>
              <span class="name">
                {file.name} <span class="quiet">{count(Math.ceil(file.size / 1024))} KB</span>
              </span>
              {importId !== null ? (
                <a href={`/console/imports/${importId}`}>{t('importStarted', { id: String(importId) })}</a>
              ) : sent !== null ? (
                <Progress percent={sent * 100} label={file.name} />
              ) : (
                <>
                  <select
                    aria-label={t('formatOf', { name: file.name })}
                    value={format}
                    required
                    onChange={(event) => update(file, { format: event.currentTarget.value })}
                  >
                    <option value="">{t('chooseFormat')}</option>
                    {FORMAT_KINDS.map((kind) => (
                      <optgroup key={kind} label={term('formats', kind)}>
                        {formats
                          .filter((known) => known.kind === kind)
                          .map(({ name, title }) => (
                            <option key={name} value={name} title={title}>
                              {name}
                            </option>
                          ))}
                      </optgroup>
                    ))}
                  </select>
                  <button
                    type="button"
                    class="plain"
                    aria-label={`${t('remove')}: ${file.name}`}
                    onClick={() => setFiles(files.filter((one) => one.file !== file))}
                  >
                    ×
                  </button>
                </>
              )}
              {isMapped(format) && importId === null && (
                <ColumnMapping
                  name={file.name}
                  rows={rows}
                  saved={saved}
                  draft={draft}
                  onChange={(next) => update(file, { draft: next })}
                  onMarket={setMarket}
                />
              )}
              <Refusal error={error} />
            </li>
          ))}
        </ul>
      )}
      {unsent.length > 0 && (
        <div class="buttons">
          <label class="check">
            <input type="checkbox" name="dry" /> {t('dryRunHint')}
          </label>
          <Field label={t('source')}>
            <select
              name="market"
              value={market}
              required={unsent.some(({ format }) => isMapped(format))}
              onChange={(event) => setMarket(event.currentTarget.value)}
            >
              <option value="">{t('asFormat')}</option>
              {marketOptions().map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <button type="submit" class="main" disabled={busy}>
            {busy ? t('working') : t('startImport', { count: unsent.length })}
          </button>
        </div>
      )}
    </form>
  )
}
