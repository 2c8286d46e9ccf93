// Listings by file: CSV import if the operator has enabled it, parked rows that need an item, and export of all listings.
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { asApiError, saveFile, useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { FileForm } from '#ui/file-form.tsx'
import { Heading } from '#ui/heading.tsx'
import { RowPages } from '#ui/row-pages.tsx'
import { Facts, FieldProblem, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { ListingCandidate, ListingImport, ListingImportRow, ParkedListing } from '../../../client/src/api.ts'
import { List, mayWrite, request, useUpload, useWrite, writeNow } from '../api.ts'
import { count, day, lira, money, refusalText, t } from '../words.ts'
import { columnsNamedIn, FileColumns } from './file-columns.tsx'
import { ListingTabs } from './listings.tsx'

export function FilesPage() {
  const [version, changed] = useVersion()
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="files" />
      <div class="toolbar">
        <p class="quiet lead">{t('byFileText')}</p>
        <div class="actions">
          <button type="button" onClick={() => void saveFile('/plus/listings/export', 'listings.csv')}>
            {t('exportListings')}
          </button>
        </div>
      </div>
      {mayWrite() && <ImportFile onImported={changed} />}
      <section>
        <h2>{t('parkedRows')}</h2>
        <Parked version={version} onChanged={changed} />
      </section>
    </>
  )
}

/** The form, what an import of the chosen file would do with its columns and rows, and what the import did. */
function ImportFile({ onImported }: { onImported: () => void }) {
  const { busy, error, write, clear } = useUpload()
  const [file, choose] = useState<File | null>(null)
  const [done, setDone] = useState<ListingImport | null>(null)
  const check = useCheck(file)
  const send = async (chosen: File) => {
    const reply = await write('/plus/listings/import', chosen)
    if (!reply) return
    setDone(reply.data)
    choose(null)
    onImported()
  }
  const columns = check.result?.columns ?? columnsNamedIn(check.error)
  return (
    <>
      <FileForm
        label={t('listingsByFile')}
        hint={t('listingsByFileHint')}
        submit={t('bringIn')}
        busy={busy}
        error={error ?? check.error}
        onSubmit={(chosen) => void send(chosen)}
        onChoose={(chosen) => {
          clear()
          setDone(null)
          choose(chosen)
        }}
      />
      {columns.length > 0 && <FileColumns of={columns} onSaved={check.repeat} />}
      {check.result && <ImportResult title={t('importForecast')} of={check.result} />}
      {done && <ImportResult title={t('takenIn')} of={done} />}
    </>
  )
}

/** The dry run of an import of the file; `repeat` runs it again. */
function useCheck(file: File | null) {
  const none = { file, result: null, error: null }
  const [state, setState] = useState<{ file: File | null; result: ListingImport | null; error: ApiError | null }>(none)
  const [round, repeat] = useVersion()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` repeats the request
  useEffect(() => {
    // While the check of the same file is repeated, its last answer stays.
    setState((last) => (last.file === file ? last : none))
    if (!file) return
    const cancel = new AbortController()
    request('POST', '/plus/listings/import', { query: { dry_run: 1 }, csv: file, signal: cancel.signal }).then(
      ({ data }) => cancel.signal.aborted || setState({ file, result: data, error: null }),
      (error: unknown) => cancel.signal.aborted || setState({ file, result: null, error: asApiError(error) }),
    )
    return () => cancel.abort()
  }, [file, round])
  return { ...state, repeat }
}

/** Rows that did not become listings come first. */
function ImportResult({ title, of }: { title: string; of: ListingImport }) {
  const { created, parked, refused, passed_over: passed, ignored_columns: ignored, rows } = of
  const ordered = (['refused', 'parked', 'created'] as const).flatMap((outcome) => rows.filter((row) => row.outcome === outcome))
  return (
    <section>
      <h2>{title}</h2>
      <div role="status">
        <Facts
          rows={[
            [t('createdRows'), count(created)],
            [t('parkedCount'), count(parked)],
            [t('refused'), count(refused)],
            [t('withoutStock'), count(passed)],
            [t('ignoredColumns'), ignored.join(', ') || null],
          ]}
        />
      </div>
      <RowPages
        caption={title}
        rows={ordered}
        rowKey={({ line }) => line}
        columns={[
          { head: t('line'), cell: ({ line, sku }) => [t('lineNumber', { number: line }), sku].filter(Boolean).join(' · ') },
          { head: t('state'), cell: ({ outcome }) => <Status code={outcome} tone={TONES[outcome]} /> },
          {
            head: t('result'),
            cell: (row) => (
              <>
                <Outcome of={row} /> <Converted of={row} />
              </>
            ),
          },
        ]}
      />
    </section>
  )
}

const TONES = { created: 'good', parked: 'wait', refused: 'bad' }

function Outcome({ of: { listing_id: id, why, refused, candidates } }: { of: ListingImportRow }) {
  if (refused) {
    return (
      <ul class="why">
        {refused.map((problem) => (
          <li key={problem.field}>
            <FieldProblem of={problem} />
          </li>
        ))}
      </ul>
    )
  }
  if (why) {
    return (
      <>
        {refusalText(why)} {candidates.length > 0 && <span class="quiet">{candidates.map(candidateText).join('; ')}</span>}
      </>
    )
  }
  if (id === null) return null
  return <a href={`/desk/listings/${id}`}>{t('listingNumber', { id: String(id) })}</a>
}

/** The price as the row states it, if it was converted. */
function Converted({ of: { converted } }: { of: ListingImportRow }) {
  if (!converted) return null
  const { amount, currency, rate, rate_day } = converted
  return <span class="quiet">{t('convertedPrice', { amount: money(amount, currency), rate: lira(rate), day: day(rate_day) })}</span>
}

function candidateText({ name, code, set, finish }: ListingCandidate): string {
  return [name, code, set, finish].filter(Boolean).join(' · ')
}

function Parked({ version, onChanged }: { version: number; onChanged: () => void }) {
  const [placing, setPlacing] = useState<ParkedListing | null>(null)
  const drop = async ({ id, name }: ParkedListing) => {
    if (!(await confirm({ title: t('removeTitle', { name }), text: t('dropText'), action: t('drop') }))) return
    if (!(await writeNow('DELETE', `/plus/parked-listings/${id}`))) return
    announce(t('dropped', { name }))
    onChanged()
  }
  return (
    <>
      <List
        path="/plus/parked-listings"
        caption={t('parkedRows')}
        empty={t('noParkedRows')}
        version={version}
        rowKey={({ id }) => id}
        columns={[
          { head: t('name'), cell: (row) => <Described of={row} /> },
          { head: t('price'), number: true, cell: ({ price }) => lira(price) },
          { head: t('stock'), number: true, cell: ({ quantity }) => count(quantity) },
          { head: t('reason'), cell: ({ why }) => refusalText(why) },
          { head: t('candidates'), number: true, cell: ({ candidates }) => count(candidates.length) },
          {
            head: t('actions'),
            cell: (row) =>
              mayWrite() && (
                <span class="buttons tight">
                  <button type="button" aria-label={`${t('chooseItem')}: ${row.name}`} onClick={() => setPlacing(row)}>
                    {t('chooseItem')}
                  </button>
                  <button type="button" class="danger" aria-label={`${t('drop')}: ${row.name}`} onClick={() => void drop(row)}>
                    {t('drop')}
                  </button>
                </span>
              ),
          },
        ]}
      />
      {placing && (
        <Placing
          of={placing}
          onClose={(placed) => {
            setPlacing(null)
            if (placed) onChanged()
          }}
        />
      )}
    </>
  )
}

function Described({ of: { line, sku, name, number, set, finish, grade } }: { of: ParkedListing }) {
  return (
    <>
      {name} <span class="quiet">{[number, set, finish, grade, sku, t('lineNumber', { number: line })].filter(Boolean).join(' · ')}</span>
    </>
  )
}

const ANOTHER = 'another'

function Placing({ of: row, onClose }: { of: ParkedListing; onClose: (placed: boolean) => void }) {
  const { busy, error, write } = useWrite()
  const [chosen, choose] = useState(row.candidates[0] ? String(row.candidates[0].item_id) : ANOTHER)
  const place = async ({ item, item_id: other }: Values) => {
    const placed = await write('POST', `/plus/parked-listings/${row.id}`, { item_id: Number(item === ANOTHER ? other : item) })
    if (!placed) return
    announce(t('placedAs', { title: placed.data.title }))
    onClose(true)
  }
  const radio = (value: string, text: string) => (
    <label key={value} class="check">
      <input type="radio" name="item" value={value} checked={value === chosen} onChange={() => choose(value)} /> {text}
    </label>
  )
  return (
    <Dialog title={row.name} onClose={() => onClose(false)}>
      <Form submit={t('listIt')} busy={busy} error={error} onSubmit={(values) => void place(values)} onCancel={() => onClose(false)}>
        <p>
          <Described of={row} />
        </p>
        <fieldset class="choices column">
          <legend>{t('candidates')}</legend>
          {row.candidates.map((candidate) => radio(String(candidate.item_id), candidateText(candidate)))}
          {radio(ANOTHER, t('anotherItem'))}
        </fieldset>
        {chosen === ANOTHER && (
          <Field label={t('itemId')}>
            <input name="item_id" type="number" min={1} step={1} required />
          </Field>
        )}
      </Form>
    </Dialog>
  )
}
