// The columns of a listing file: what each is taken as, and a select to correct it, which the account's next files use as well.
import type { ApiError } from '#ui/api.ts'
import { Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { Await } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { ListingColumn, ListingImportColumn } from '../../../client/src/api.ts'
import { columnName } from '../../../src/intake/column-name.ts'
import { spellingOf } from '../../../src/intake/column-names.ts'
import { useData, useWrite } from '../api.ts'
import { t, termText } from '../words.ts'

/** A column with what the service takes it as; undefined for a file that the service does not read. */
type FileColumn = Pick<ListingImportColumn, 'column'> & Partial<ListingImportColumn>

/** What a person can choose for a column. `condition` stands for its synonyms, too. */
const FIELDS = [
  'name',
  'number',
  'set',
  'set_code',
  'finish',
  'foil',
  'reverse',
  'first_edition',
  'game',
  'language',
  'condition',
  'quantity',
  'price',
  'price_cents',
  'currency',
  'sku',
  'title',
  'description',
  'images',
  'signed',
  'altered',
  'playset',
  'graded',
  'grader',
  'cert',
  'cert_grade',
  'qualifier',
  'subgrades',
  'local_name',
  'item_id',
  'cardmarket_id',
  'tcgplayer_id',
  'min_offer_price',
  'offers_enabled',
  'shipping_payer',
] as const

const AUTOMATIC = ''
const IGNORED = 'ignore'
/** Columns in a table: as many as the service states. */
const MAX_COLUMNS = 100

/** The columns that an import of a file was refused for; none for another error. */
export function columnsNamedIn(error: ApiError | null): FileColumn[] {
  const { must } = (error?.details[0]?.params ?? {}) as { must?: { rule: string; params: { values?: string[] } } }
  if (!must || !['header', 'columns_unclear', 'columns_mapped'].includes(must.rule)) return []
  const names = (must.params.values ?? []).filter((name) => name.trim() !== '').slice(0, MAX_COLUMNS)
  return names.map((column) => ({ column: columnName(column) }))
}

export function FileColumns({ of: columns, onSaved }: { of: FileColumn[]; onSaved: () => void }) {
  const saved = useData('/plus/listings/columns')
  const onChange = () => {
    saved.reload()
    onSaved()
  }
  return (
    <section>
      <h2>{t('fileColumns')}</h2>
      <p class="quiet">{t('fileColumnsText')}</p>
      <Await of={saved}>
        {({ columns: entries }) => <ColumnForm key={JSON.stringify([columns, entries])} of={columns} saved={entries} onSaved={onChange} />}
      </Await>
    </section>
  )
}

function ColumnForm({ of: columns, saved, onSaved }: { of: FileColumn[]; saved: ListingColumn[]; onSaved: () => void }) {
  const { busy, error, write } = useWrite()
  const bySpelling = new Map(saved.map((entry) => [spellingOf(entry.column), entry]))
  const save = async (values: Values) => {
    for (const [i, { column }] of columns.entries()) {
      const choice = values[`column${i}`] ?? AUTOMATIC
      const spelling = spellingOf(column)
      if (choice === AUTOMATIC) bySpelling.delete(spelling)
      else bySpelling.set(spelling, { column, field: choice === IGNORED ? null : (choice as ListingColumn['field']) })
    }
    if (!(await write('PUT', '/plus/listings/columns', { columns: [...bySpelling.values()] }))) return
    announce(t('columnsSaved'))
    onSaved()
  }
  return (
    <Form submit={t('saveColumns')} busy={busy} error={error} onSubmit={(values) => void save(values)}>
      <Table
        caption={t('fileColumns')}
        rows={columns.map((column, i) => ({ ...column, i }))}
        rowKey={({ i }) => i}
        columns={[
          { head: t('column'), cell: ({ column }) => column },
          { head: t('takenAs'), cell: takenAs },
          {
            head: t('ownChoice'),
            cell: ({ column, i }) => <Choice name={`column${i}`} column={column} saved={bySpelling.get(spellingOf(column))} />,
          },
        ]}
      />
    </Form>
  )
}

function takenAs({ field, how }: FileColumn) {
  if (field === undefined) return '–'
  if (field === null) return <span class="quiet">{how === 'saved' ? t('ignoredByChoice') : t('notRead')}</span>
  return (
    <>
      {termText('columnField', field)} <span class="quiet">{how && termText('columnHow', how)}</span>
    </>
  )
}

function Choice({ name, column, saved }: { name: string; column: string; saved: ListingColumn | undefined }) {
  const selected = saved === undefined ? AUTOMATIC : (saved.field ?? IGNORED)
  const fields: readonly string[] = FIELDS
  const all = saved?.field && !fields.includes(saved.field) ? [...fields, saved.field] : fields
  return (
    <select name={name} aria-label={t('columnHolds', { column })}>
      <Options
        of={[
          { value: AUTOMATIC, text: t('automatic') },
          { value: IGNORED, text: t('ignoreColumn') },
          ...all.map((field) => ({ value: field, text: termText('columnField', field) })),
        ]}
        selected={selected}
      />
    </select>
  )
}
