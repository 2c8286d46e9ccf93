// One import: progress, result, rejected rows with reasons, and revert.
import { useLocation, useRoute } from 'preact-iso'
import { saveFile } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Facts, Refusal } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { useData, useWrite } from '../api.ts'
import type { ImportDetail } from '../api-types.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, moment, refusalText, sentence, t, termText } from '../words.ts'
import { ItemPicture } from '../ui/item-picture.tsx'
import { ImportState, isInProgress, highRejectedShare } from '../ui/import-state.tsx'
import { priceText } from './prices.ts'

type RefusedRow = ImportDetail['errors'][number]

const SOON_MS = 500

export function ImportPage() {
  const id = Number(useRoute().params.id)
  const again = (found: ImportDetail) => (isInProgress(found) ? SOON_MS : null)
  const found = useData(`/imports/${id}`, { again })
  return (
    <>
      <p class="trail">
        <a href="/console/imports">{t('imports')}</a>
      </p>
      <Await of={found} title={t('import')}>
        {(row) => <Report of={row} />}
      </Await>
    </>
  )
}

function Report({ of }: { of: ImportDetail }) {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const revertible = of.status === 'done' && !of.dry_run && of.accepted > 0 && of.reverted_by_import_id === null
  const revert = async () => {
    const question = { title: t('revertTitle', { id: String(of.id) }), text: t('revertText', { count: of.accepted }), action: t('revert') }
    if (!(await confirm(question))) return
    const reverting = await write('POST', `/imports/${of.id}/revert`)
    if (!reverting) return
    announce(t('revertDone'))
    route(`/console/imports/${reverting.data.id}`)
  }
  const { held_by_rule: byRule, worst_held: worst } = of
  const rules = Object.entries(byRule)
  return (
    <>
      <div class="head">
        <Heading>
          {t('import')} #{of.id} <span class="quiet">{of.file_name ?? ''}</span>
        </Heading>
        <div class="actions">
          {revertible && (
            <PermittedButton need="catalogue" class="danger" disabled={busy} onClick={() => void revert()}>
              {t('revert')}
            </PermittedButton>
          )}
        </div>
      </div>
      <Refusal error={error} />
      <div class="tiles">
        {(['rows_read', 'created', 'updated', 'accepted', 'unchanged', 'held', 'rejected'] as const).map((name) => (
          <div key={name} class={name === 'rejected' && highRejectedShare(of) !== null ? 'tile waits' : 'tile'}>
            <span>{termText('count', name)}</span>
            <strong>{count(of[name])}</strong>
          </div>
        ))}
      </div>
      <Facts
        brief
        rows={[
          [t('state'), <ImportState key="state" of={of} />],
          [t('format'), of.format],
          [t('source'), of.market && termText('market', of.market)],
          [t('actor'), of.author],
          [t('begun'), moment(of.started_at)],
          [t('ended'), of.finished_at && moment(of.finished_at)],
          [
            t('reverts'),
            of.reverts_import_id && (
              <a key="reverts" href={`/console/imports/${of.reverts_import_id}`}>
                #{of.reverts_import_id}
              </a>
            ),
          ],
          [
            t('revertedBy'),
            of.reverted_by_import_id && (
              <a key="by" href={`/console/imports/${of.reverted_by_import_id}`}>
                #{of.reverted_by_import_id}
              </a>
            ),
          ],
        ]}
      />
      {of.message !== null && (
        <p class="refusal" role="alert">
          {sentence({ ...of, message: of.message })}
        </p>
      )}
      {of.held > 0 && (
        <p>
          <a href={`/console/price-reviews?state=held&import_id=${of.id}`}>{t('seeHeld', { count: of.held })}</a>{' '}
          {rules.map(([rule, number]) => `${termText('rule', rule)}: ${count(number)}`).join(' · ')}
        </p>
      )}
      {worst.length > 0 && (
        <section aria-labelledby="worst">
          <h2 id="worst">{t('worstHeld')}</h2>
          <Table
            caption={t('worstHeld')}
            rows={worst}
            rowKey={(held) => held.id}
            columns={[
              {
                head: t('item'),
                cell: (held) => (
                  <a class="with-picture" href={`/console/catalogue/items/${held.item.id}`}>
                    <ItemPicture id={held.item.id} /> {held.item.name}
                  </a>
                ),
              },
              { head: t('label'), cell: (held) => held.label },
              { head: t('price'), number: true, cell: (held) => priceText(held.price, held.market) },
              {
                head: t('comparedWith'),
                number: true,
                cell: (held) => (held.compared_price === null ? '–' : priceText(held.compared_price, held.market)),
              },
              { head: t('why'), cell: (held) => refusalText({ ...held, message: held.reason }) },
            ]}
          />
        </section>
      )}
      {of.rejected > 0 && <RejectedRows of={of} />}
    </>
  )
}

/** Why rows were rejected, and the rows as a file. */
function RejectedRows({ of }: { of: ImportDetail }) {
  const files = new Set(of.reasons.flatMap(({ samples }) => samples.map((row) => row.file))).size
  const at = ({ file, line }: RefusedRow) => (files > 1 && file ? `${file}: ${count(line)}` : count(line))
  return (
    <section aria-labelledby="rejected">
      <div class="head">
        <h2 id="rejected">{t('rejectedRows')}</h2>
        <button type="button" onClick={() => void saveFile(`/imports/${of.id}/refusals.csv`, `import-${of.id}-refusals.csv`)}>
          {t('downloadRows', { count: of.rejected })}
        </button>
      </div>
      <Table
        caption={t('rejectedRows')}
        rows={of.reasons}
        rowKey={({ reason }) => reason}
        columns={[
          { head: t('reason'), cell: (reason) => textOfReason(reason) },
          { head: t('rows'), number: true, cell: (reason) => count(reason.count) },
          { head: t('forExample'), cell: ({ samples }) => <Samples rows={samples} at={at} /> },
        ]}
      />
    </section>
  )
}

/** Why a row was rejected. */
function textOfReason({ reason, ...why }: Omit<RefusedRow, 'file' | 'line'>): string {
  return refusalText({ message: reason, ...why })
}

/** Details of the problem in the first rows rejected for a reason. */
function Samples({ rows, at }: { rows: RefusedRow[]; at: (row: RefusedRow) => string }) {
  return (
    <ul>
      {rows.map((row) => (
        <li key={at(row)}>
          <span class="quiet">{t('inLine', { line: at(row) })}</span> {textOfReason(row)}
        </li>
      ))}
    </ul>
  )
}
