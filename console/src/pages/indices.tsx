// Price indices by month, which state profits in real lira, and a form for a new month.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { FileForm } from '#ui/file-form.tsx'
import { Heading } from '#ui/heading.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useData, useUpload, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { rateText, t } from '../words.ts'
import { ImportTabs } from './imports.tsx'

/** Consumer prices in lira, the index that profits use. */
const CONSUMER_PRICES = 'TRY_CPI'

export function IndicesPage() {
  const [adding, setAdding] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const [version, changed] = useVersion()
  const { busy, error, write, clear } = useWrite()
  const latest = useData('/indices', { query: { index: CONSUMER_PRICES, per_page: 1 }, version }).data
  const file = useUpload()
  const load = async (csv: File) => {
    const loaded = await file.write('/indices', csv)
    if (!loaded) return
    setChoosing(false)
    announce(t('indicesLoaded', { count: loaded.data.indices }))
    changed()
  }
  const submit = async ({ index = '', month = '', value }: Values) => {
    if (!(await write('POST', '/indices', { index: index.toUpperCase(), month, value: Number(value) }))) return
    setAdding(false)
    announce(t('indexSaved', { index: index.toUpperCase(), month }))
    changed()
  }
  return (
    <>
      <Heading>{t('indices')}</Heading>
      <ImportTabs current="indices" />
      <p class="quiet">{t('indicesText')}</p>
      {latest && <p role="status">{latest[0] ? t('indexLatest', { month: latest[0].month }) : t('indexMissing')}</p>}
      <List
        path="/indices"
        caption={t('indices')}
        empty={t('noIndices')}
        version={version}
        actions={
          <>
            <PermittedButton
              need="catalogue"
              onClick={() => {
                file.clear()
                setChoosing(true)
              }}
            >
              {t('indicesByFile')}
            </PermittedButton>
            <PermittedButton
              need="catalogue"
              class="main"
              onClick={() => {
                clear()
                setAdding(true)
              }}
            >
              {t('newIndex')}
            </PermittedButton>
          </>
        }
        rowKey={(row) => `${row.index} ${row.month}`}
        columns={[
          { head: t('month'), cell: (row) => row.month },
          { head: t('index'), cell: (row) => row.index },
          { head: t('indexValue'), number: true, cell: (row) => rateText(row.value) },
        ]}
      />
      {choosing && (
        <Dialog title={t('indicesByFile')} onClose={() => setChoosing(false)}>
          <FileForm
            label={t('csvFile')}
            hint={t('indicesByFileHint')}
            submit={t('loadFile')}
            busy={file.busy}
            error={file.error}
            onSubmit={(csv) => void load(csv)}
          />
        </Dialog>
      )}
      {adding && (
        <Dialog title={t('newIndex')} onClose={() => setAdding(false)}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={() => setAdding(false)}>
            <Field label={t('index')} hint={t('indexHint')}>
              <input name="index" defaultValue={CONSUMER_PRICES} maxLength={40} autocomplete="off" required />
            </Field>
            <Field label={t('month')} hint={t('monthHint')}>
              <input name="month" maxLength={7} placeholder="2026-10" autocomplete="off" required />
            </Field>
            <Field label={t('indexValue')} hint={t('indexValueHint')}>
              <input name="value" type="number" min={0} step="any" required />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}
