// Merges an item into another after showing both, and lists the merges of an item with undo.
import { useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { confirm, Dialog, Form, type Values } from '#ui/dialog.tsx'
import { Id } from '#ui/id.tsx'
import { Await, Facts, Refusal } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { Picker } from '#ui/picker.tsx'
import { announce } from '#ui/toasts.tsx'
import { request, useData, useWrite } from '../api.ts'
import type { Merge, PricedItem } from '../api-types.ts'
import { items } from '../ui/sources.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, moment, t, termText } from '../words.ts'

interface MergeFormProps {
  item: PricedItem
  onClose: () => void
  /** called with the id of the survivor */
  onMerged: (into: number) => void
}

/** Asks for the survivor, shows what a merge would move and whether the items differ, and merges. */
export function MergeForm({ item, onClose, onMerged }: MergeFormProps) {
  const { busy, error, write } = useWrite()
  const [into, setInto] = useState<number | null>(null)
  const survivor = useData(into === null ? null : `/items/${into}`)
  const [refused, setRefused] = useState<ApiError | null>(null)
  const [plan, setPlan] = useState<{ into: number; moved: Merge['moved'] } | null>(null)
  const submit = async (values: Values) => {
    const id = Number(values.into)
    // The first submit shows the chosen item and what will move, the second one merges.
    if (into !== id || plan?.into !== id) {
      setInto(id)
      setRefused(null)
      try {
        const { data } = await request('POST', `/items/${item.id}/merge`, { query: { dry_run: 1 }, json: { into: id } })
        setPlan({ into: id, moved: data.moved })
      } catch (thrown) {
        setRefused(asApiError(thrown))
      }
      return
    }
    const merged = await write('POST', `/items/${item.id}/merge`, { into: id })
    if (!merged) return
    announce(t('mergeDone', { name: merged.data.into.name }))
    onMerged(merged.data.into.id)
  }
  const other = plan?.into === into && !survivor.loading ? survivor.data : null
  return (
    <Dialog title={t('mergeTitle', { name: item.name })} onClose={onClose}>
      <p>{t('mergeText')}</p>
      <Form
        submit={other ? t('merge') : t('mergeShow')}
        danger={other !== null}
        busy={busy || survivor.loading}
        error={error ?? survivor.error ?? refused}
        onSubmit={(values) => void submit(values)}
        onCancel={onClose}
      >
        <Picker label={t('mergeInto')} hint={t('mergeIntoHint')} name="into" source={items} required onSettled={() => setInto(null)} />
        {other && (
          <div role="status">
            <p>{t('mergeQuestion', { from: described(item), into: described(other) })}</p>
            {differences(item, other).map((text) => (
              <p key={text} class="refusal">
                {text}
              </p>
            ))}
            <Facts rows={Object.entries(plan!.moved).map(([kind, number]) => [termText('moved', kind), count(number)])} />
          </div>
        )}
      </Form>
    </Dialog>
  )
}

/** Warnings for items that are probably not the same card. */
function differences(one: PricedItem, other: PricedItem): string[] {
  return [
    ...(one.name === other.name ? [] : [t('mergeNames', { from: one.name, into: other.name })]),
    ...(one.code === other.code ? [] : [t('mergeNumbers', { from: one.code ?? '–', into: other.code ?? '–' })]),
  ]
}

function described({ id, name, code, category, market }: PricedItem): string {
  return `${[name, code].filter(Boolean).join(' ')} (${category.name}, ${termText('market', market)}, ${id})`
}

/** The merges into an item that are in effect; renders nothing if there are none. */
export function ItemMerges({ itemId, onUndone }: { itemId: number; onUndone: () => void }) {
  const merges = useData('/merges', { query: { item_id: itemId, state: 'in_effect', per_page: 100 } })
  const { busy, error, write } = useWrite()
  const undo = async (merge: Merge) => {
    const question = { title: t('splitTitle', { name: merge.from.name }), text: t('splitText'), action: t('split') }
    if (!(await confirm(question))) return
    if (!(await write('POST', `/batches/${merge.batch_id}/revert`))) return
    announce(t('splitDone', { name: merge.from.name }))
    merges.reload()
    onUndone()
  }
  if (merges.data?.length === 0) return null
  return (
    <section aria-labelledby="merges">
      <h2 id="merges">{t('merges')}</h2>
      <Refusal error={error} />
      <Await of={merges}>
        {(rows) => (
          <Table
            caption={t('merges')}
            rows={rows}
            rowKey={(merge) => merge.id}
            columns={[
              { head: t('id'), number: true, cell: (merge) => <Id value={merge.from.id} /> },
              { head: t('name'), cell: (merge) => merge.from.name },
              { head: t('source'), cell: (merge) => termText('market', merge.from.market) },
              { head: t('ref'), wide: true, cell: (merge) => merge.from.ref },
              { head: t('when'), cell: (merge) => moment(merge.at) },
              {
                head: t('split'),
                cell: (merge) => (
                  <PermittedButton
                    need="catalogue"
                    disabled={busy}
                    aria-label={t('splitOne', { name: merge.from.name, id: merge.from.id })}
                    onClick={() => void undo(merge)}
                  >
                    {t('split')}
                  </PermittedButton>
                ),
              },
            ]}
          />
        )}
      </Await>
    </section>
  )
}
