// Exchange rates by date for comparing prices across currencies, missing ones, and a form for new ones.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, sessions, useData, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { calendarDay, rateText, t } from '../words.ts'
import { ImportTabs } from './imports.tsx'

export function RatesPage() {
  const [adding, setAdding] = useState(false)
  const [version, changed] = useVersion()
  const { busy, error, write, clear } = useWrite()
  const submit = async ({ currency = '', day = '', rate }: Values) => {
    if (!(await write('POST', '/rates', { currency: currency.toUpperCase(), day, rate: Number(rate) }))) return
    setAdding(false)
    announce(t('rateSaved', { currency: currency.toUpperCase(), day: calendarDay(day) }))
    changed()
  }
  return (
    <>
      <Heading>{t('rates')}</Heading>
      <ImportTabs current="rates" />
      <p class="quiet">{t('ratesText')}</p>
      {currencies().map((currency) => (
        <Missing key={currency} currency={currency} version={version} />
      ))}
      <List
        path="/rates"
        caption={t('rates')}
        empty={t('noRates')}
        version={version}
        filters={[{ name: 'currency', label: t('currency'), options: currencies().map((code) => ({ value: code, text: code })) }]}
        actions={
          <PermittedButton
            need="catalogue"
            class="main"
            onClick={() => {
              clear()
              setAdding(true)
            }}
          >
            {t('newRate')}
          </PermittedButton>
        }
        rowKey={(row) => `${row.currency} ${row.day}`}
        columns={[
          { head: t('day'), cell: (row) => calendarDay(row.day) },
          { head: t('currency'), cell: (row) => row.currency },
          { head: t('rateInLira'), number: true, cell: (row) => rateText(row.rate) },
        ]}
      />
      {adding && (
        <Dialog title={t('newRate')} onClose={() => setAdding(false)}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={() => setAdding(false)}>
            <Field label={t('currency')} hint={t('currencyHint')}>
              <input name="currency" list="currencies" minLength={3} maxLength={3} autocomplete="off" required />
            </Field>
            <datalist id="currencies">
              {currencies().map((code) => (
                <option key={code} value={code} />
              ))}
            </datalist>
            <Field label={t('day')} hint={t('rateDayHint')}>
              <input name="day" type="date" defaultValue={new Date().toISOString().slice(0, 10)} required />
            </Field>
            <Field label={t('rateInLira')} hint={t('rateHint')}>
              <input name="rate" type="number" min={0} step="any" required />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Currencies of the sources, except lira. */
function currencies(): string[] {
  return [...new Set(Object.values(sessions.session.value?.currencies ?? {}))].filter((currency) => currency !== 'TRY').sort()
}

function Missing({ currency, version }: { currency: string; version: number }) {
  const { pagination } = useData('/rates', { query: { currency, per_page: 1 }, version })
  return pagination?.total === 0 ? <p role="status">{t('rateMissing', { currency })}</p> : null
}
