// The seller's vacation: the period during which listings are hidden.
import { Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Refusal } from '#ui/states.tsx'
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
    const start = from === localOf(vacation?.from) ? vacation?.from : momentOf(from!)
    if (!(await write('PUT', '/plus/vacation', { ...(start && { from: start }), to: momentOf(to!)! }))) return
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
          <Field label={t('from')} hint={t('vacationFromHint')}>
            <input name="from" type="datetime-local" defaultValue={localOf(vacation?.from)} />
          </Field>
          <Field label={t('until')}>
            <input name="to" type="datetime-local" required defaultValue={localOf(vacation?.to)} />
          </Field>
        </div>
      </Form>
    </section>
  )
}

/** The time for the value of a local date and time field. */
function momentOf(local: string): string | undefined {
  return local === '' ? undefined : new Date(local).toISOString()
}

/** A time as the value of a local date and time field, to the minute. */
function localOf(moment: string | undefined): string {
  if (!moment) return ''
  const at = new Date(moment)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
