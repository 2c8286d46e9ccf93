// Files to import: each with its guessed format and a dry run that shows what would change.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { asApiError, useVersion } from '#ui/data.ts'
import { Field } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { Progress, Refusal } from '#ui/states.tsx'
import { request, upload, useData } from '../api.ts'
import type { ImportDetail, ImportFormat } from '../api-types.ts'
import { importFormatKindValues as FORMAT_KINDS } from '../api-values.ts'
import { type FirstRows, firstRows } from '../first-rows.ts'
import { guessFormat, headOf, mappedFormat } from '../guess-format.ts'
import { count, refusalText, sentence, share, t, termText } from '../words.ts'
import { ColumnMapping, type Draft, draftOf, fittingMapping, isPriceList, mappingDraft, parametersOf } from './column-mapping.tsx'
import { isInProgress, highRejectedShare } from './import-state.tsx'
import { marketOptions } from './market-options.ts'

const SOON_MS = 500
const SHOWN_REASONS = 3

interface Chosen {
  file: File
  format: string
  /** for a list that needs a mapping */
  rows: FirstRows
  draft: Draft
  /** percentage of the upload or import that is done; null while nothing runs */
  percent: number | null
  /** result of the dry run for the current choice; null before a dry run */
  check: ImportDetail | null
  /** whether its prices are imported although they are off as a whole */
  acceptDrift: boolean
  importId: number | null
  error: ApiError | null
}

const isChecked = ({ check }: Chosen) => check?.status === 'done'
const isDrift = (check: ImportDetail | null) => check?.status === 'failed' && check.rule === 'feed_drift'
const isSendable = ({ importId, check, acceptDrift }: Chosen) => importId === null && (check?.status !== 'failed' || acceptDrift)

interface ImportFilesProps {
  /** null while the list loads */
  formats: ImportFormat[] | null
  onStarted: () => void
}

/** The chosen files and what is done with them. */
function useChosenFiles({ formats, onStarted }: ImportFilesProps) {
  const [dropped, setDropped] = useState<File[]>([])
  const [files, setFiles] = useState<Chosen[]>([])
  const [busy, setBusy] = useState(false)
  const [market, setMarket] = useState('')
  const [savedVersion, savedChanged] = useVersion()
  const saved = useData('/price-mappings', { version: savedVersion }).data ?? []
  const shown = useRef(true)
  useEffect(() => () => void (shown.current = false), [])
  const isMapped = (format: string) => formats?.some(({ name, mapped }) => mapped && name === format)
  const drop = (list: FileList | null | undefined) => {
    const chosen = [...(list ?? [])]
    setDropped((old) => [...old, ...chosen])
  }
  const add = async (chosen: File[], readable: ImportFormat[]) => {
    const savedMappings = await request('GET', '/price-mappings').then(
      ({ data }) => data,
      () => [],
    )
    const added = await Promise.all(
      chosen.map(async (file): Promise<Chosen> => {
        const head = await headOf(file)
        const rows = firstRows(head, head.length === file.size)
        const guessed = guessFormat(head, readable)
        const fitting = guessed === null ? fittingMapping(rows, savedMappings) : null
        if (fitting?.mapping.market) setMarket(fitting.mapping.market)
        const draft = fitting ? mappingDraft(fitting) : draftOf(rows)
        const format = guessed ?? (isPriceList(draft) ? mappedFormat(head, readable) : null) ?? ''
        return { file, format, rows, draft, percent: null, check: null, acceptDrift: false, importId: null, error: null }
      }),
    )
    setFiles((old) => [...old.filter((one) => one.importId === null), ...added])
  }
  // Files may be dropped before the page has loaded the formats, which it needs to guess the format of a file.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these two start it
  useEffect(() => {
    if (formats === null || dropped.length === 0) return
    setDropped([])
    void add(dropped, formats)
  }, [dropped, formats])
  const update = (file: File, changes: Partial<Chosen>) => {
    setFiles((old) => old.map((one) => (one.file === file ? { ...one, ...changes } : one)))
  }
  const chooseMarket = (value: string) => {
    setMarket(value)
    setFiles((old) => old.map((one) => ({ ...one, check: null })))
  }
  /** Uploads a file; waits for the end of a dry run. */
  const send = async ({ file, format, draft, acceptDrift }: Chosen, dryRun: boolean): Promise<ImportDetail | null> => {
    try {
      const mapping = isMapped(format) && { mapping: parametersOf(draft) }
      const { id } = await upload({
        format,
        market,
        dryRun,
        acceptDrift,
        ...mapping,
        file,
        onProgress: (sent) => update(file, { percent: sent * 100 }),
      })
      onStarted()
      if (isMapped(format)) savedChanged()
      if (!dryRun) update(file, { percent: null, importId: id })
      return dryRun ? await followed(id, (percent) => update(file, { percent })) : null
    } catch (error) {
      update(file, { error: asApiError(error) })
      return null
    } finally {
      update(file, { percent: null })
    }
  }
  const followed = async (id: number, onProgress: (percent: number) => void): Promise<ImportDetail | null> => {
    while (shown.current) {
      const { data } = await request('GET', `/imports/${id}`)
      if (!isInProgress(data)) return data
      onProgress(data.percent)
      await new Promise((resolve) => setTimeout(resolve, SOON_MS))
    }
    return null
  }
  const unsent = files.filter(isSendable)
  const start = async (dryRun: boolean) => {
    setBusy(true)
    // Marks all files at once, so that the page does not grow when the next one starts.
    for (const { file } of unsent) update(file, { percent: 0, error: null, ...(dryRun && { check: null }) })
    for (const one of unsent) {
      const check = await send(one, dryRun)
      if (check) update(one.file, { check })
    }
    setBusy(false)
    onStarted()
  }
  const remove = (file: File) => setFiles((old) => old.filter((one) => one.file !== file))
  return { files, unsent, busy, market, saved, isMapped, drop, update, remove, chooseMarket, start }
}

export function ImportFiles(props: ImportFilesProps) {
  const chosen = useChosenFiles(props)
  const { files, busy, drop } = chosen
  const [over, setOver] = useState(false)
  return (
    <form
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        drop(event.dataTransfer?.files)
      }}
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) void chosen.start((event.submitter as HTMLButtonElement | null)?.value === 'check')
      }}
    >
      <label class="files">
        <strong>{t('dropFiles')}</strong>
        <span class="quiet">{t('dropHint')}</span>
        {/* Replaces the native file button, whose text is in the browser's language. */}
        <span class="button" aria-hidden="true">
          {t('chooseFiles')}
        </span>
        <input
          class="hidden"
          type="file"
          multiple
          onChange={(event) => {
            drop(event.currentTarget.files)
            event.currentTarget.value = ''
          }}
        />
      </label>
      {files.length > 0 && (
        <ul class="waiting">
          {files.map((one) => (
            <ChosenFile key={`${one.file.name} ${one.file.lastModified}`} one={one} formats={props.formats} of={chosen} />
          ))}
        </ul>
      )}
      {files.some(({ importId }) => importId === null) && <StartButtons of={chosen} />}
    </form>
  )
}

interface ChosenFileProps {
  one: Chosen
  formats: ImportFormat[] | null
  of: ReturnType<typeof useChosenFiles>
}

/** A file with its format and column mapping, its progress, and the result of its dry run. */
function ChosenFile({ one, formats, of: { saved, isMapped, update, remove, chooseMarket } }: ChosenFileProps) {
  const { file, format, percent, check, importId } = one
  return (
    <li>
      <span class="name">
        {file.name} <span class="quiet">{count(Math.ceil(file.size / 1024))} KB</span>
      </span>
      {importId !== null ? (
        <a href={`/console/imports/${importId}`}>{t('importStarted', { id: String(importId) })}</a>
      ) : percent !== null ? (
        <Progress percent={percent} label={file.name} />
      ) : (
        <>
          <select
            aria-label={t('formatOf', { name: file.name })}
            value={format}
            required
            onChange={(event) => update(file, { format: event.currentTarget.value, check: null })}
          >
            <option value="">{t('chooseFormat')}</option>
            {FORMAT_KINDS.map((kind) => (
              <optgroup key={kind} label={termText('formats', kind)}>
                {formats
                  ?.filter((listed) => listed.kind === kind)
                  .map(({ name, title }) => (
                    <option key={name} value={name} title={title}>
                      {name}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
          <button type="button" class="plain" aria-label={`${t('remove')}: ${file.name}`} onClick={() => remove(file)}>
            ×
          </button>
        </>
      )}
      {importId === null && (check || percent !== null) && <Check of={check} />}
      {importId === null && isDrift(check) && (
        <label class="check">
          <input type="checkbox" checked={one.acceptDrift} onChange={(event) => update(file, { acceptDrift: event.currentTarget.checked })} />
          {t('acceptDrift')}
        </label>
      )}
      {isMapped(format) && importId === null && (
        <ColumnMapping
          name={file.name}
          rows={one.rows}
          saved={saved}
          draft={one.draft}
          onChange={(next) => update(file, { draft: next, check: null })}
          onMarket={chooseMarket}
        />
      )}
      <Refusal error={one.error} />
    </li>
  )
}

/** Checks or imports the files that are not sent yet. */
function StartButtons({ of: { unsent, busy, market, isMapped, chooseMarket } }: Pick<ChosenFileProps, 'of'>) {
  const allChecked = unsent.length > 0 && unsent.every(isChecked)
  const disabled = busy || unsent.length === 0
  return (
    <div class="buttons">
      <p class="quiet hint">{t('checkHint')}</p>
      <Field label={t('source')}>
        <select
          name="market"
          value={market}
          required={unsent.some(({ format }) => isMapped(format))}
          onChange={(event) => chooseMarket(event.currentTarget.value)}
        >
          <option value="">{t('asFormat')}</option>
          <Options of={marketOptions()} />
        </select>
      </Field>
      <button type="submit" value="check" class={allChecked ? undefined : 'main'} disabled={disabled}>
        {t('startCheck', { count: unsent.length })}
      </button>
      <button type="submit" value="import" class={allChecked ? 'main' : undefined} disabled={disabled}>
        {t('startImport', { count: unsent.length })}
      </button>
    </div>
  )
}

/** What an import would change, from its dry run; placeholders while it runs. */
function Check({ of }: { of: ImportDetail | null }) {
  if (of?.status === 'failed') return <p class="refusal check-result">{sentence({ ...of, message: of.message ?? t('failed') })}</p>
  const much = of && highRejectedShare(of)
  return (
    <div class="check-result" aria-live="polite" aria-busy={of === null}>
      <dl class="facts">
        {(['created', 'updated', 'unchanged', 'held', 'rejected'] as const).map((name) => (
          <div key={name} class={name === 'rejected' && much ? 'much' : undefined}>
            <dt>{termText('would', name)}</dt>
            <dd>
              <strong>{of ? count(of[name]) : '–'}</strong> {name === 'rejected' && much ? share(much) : ''}
            </dd>
          </div>
        ))}
      </dl>
      {of && (
        <p>
          {of.reasons.slice(0, SHOWN_REASONS).map(({ reason, count: rows, ...why }) => (
            <span key={reason} class="why">
              {refusalText({ message: reason, ...why })}: {count(rows)}
            </span>
          ))}{' '}
          <a href={`/console/imports/${of.id}`}>{t('checkReport')}</a>
        </p>
      )}
    </div>
  )
}
