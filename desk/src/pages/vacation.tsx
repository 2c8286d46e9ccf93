// The seller's vacation: the period during which listings are hidden.
import { Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Refusal } from '#ui/states.tsx'
import { instantOf, localOf, timeZone } from '#ui/time-zone.ts'
import { announce } from '#ui/toasts.tsx'
import type { Vacation } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { moment, t } from '../words.ts'
import { ListingTabs } from './listings.tsx'

export function VacationPage() {
  const vacation = useData('/plus/vacation')
  const { data, loading, error, reload } = vacation
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="vacation" />
      <p class="quiet lead">{t('vacationText')}</p>
      {data === null && !loading && !error ? (
        <Period of={null} onChanged={reload} />
      ) : (
        <Await of={vacation}>{(row) => <Period key={row?.to} of={row} onChanged={reload} />}</Await>
      )}
    </>
  )
}

function Period({ of: vacation, onChanged }: { of: Vacation | null; onChanged: () => void }) {
  const { busy, error, write } = useWrite()
  const ending = useWrite()
  const save = async ({ from, to }: Values) => {
    // An unchanged start is sent in its original form, because the field does not contain its seconds.
    const start = from === fieldOf(vacation?.from) ? vacation?.from : from && instantOf(from).toISOString()
    if (!(await write('PUT', '/plus/vacation', { ...(start && { from: start }), to: instantOf(to!).toISOString() }))) return
    announce(t('vacationSaved'))
    onChanged()
  }
  const end = async () => {
    if (!(await ending.write('DELETE', '/plus/vacation'))) return
    announce(t('vacationEnded'))
    onChanged()
  }
  return (
    <section class="panel settings">
      {vacation && (
        <div class="head">
          <span>{t('vacationPeriod', { from: moment(vacation.from), to: moment(vacation.to) })}</span>
          {mayWrite() && (
            <button type="button" disabled={ending.busy} onClick={() => void end()}>
              {t('endVacation')}
            </button>
          )}
        </div>
      )}
      <Refusal error={ending.error} />
      <Form submit={t('save')} busy={busy || !mayWrite()} error={error} onSubmit={(values) => void save(values)}>
        <div class="pair">
          <Field label={t('from')} hint={`${t('vacationFromHint')}. ${t('timesIn', { zone: timeZone.value! })}`}>
            <input name="from" type="datetime-local" defaultValue={fieldOf(vacation?.from)} />
          </Field>
          <Field label={t('until')}>
            <input name="to" type="datetime-local" required defaultValue={fieldOf(vacation?.to)} />
          </Field>
        </div>
      </Form>
    </section>
  )
}

function fieldOf(time: string | undefined): string {
  return time === undefined ? '' : localOf(time)
}
