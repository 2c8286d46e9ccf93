// Maps the columns of a price list: its first rows, and a column choice for each field.
import { useId } from 'preact/hooks'
import { Field } from '#ui/dialog.tsx'
import { Table } from '#ui/table.tsx'
import type { SavedPriceMapping } from '../api-types.ts'
import {
  priceMappingDecimalValues as DECIMAL_SIGNS,
  priceMappingEncodingValues as ENCODINGS,
  priceMappingYearsValues as YEARS,
} from '../api-values.ts'
import { type FirstRows, guessColumns } from '../first-rows.ts'
import { t, termText } from '../words.ts'

/** Values of the form; empty text means none. */
export interface Draft {
  columns: Record<string, string>
  currency: string
  decimal: string
  encoding: string
  years: string
  /** `false` for averages over all conditions */
  conditionKnown: string
  entries: string
  only: string
  /** saved mapping that the form started with */
  from: string
  saveAs: string
}

const FIELDS = [
  'price',
  'name',
  'set',
  'number',
  'finish',
  'label',
  'updated_at',
  'recorded_at',
  'game',
  'language',
  'cardmarket_id',
  'tcgplayer_id',
  'tcgdex_id',
  'item_ref',
] as const
const MAX_CELL_LENGTH = 40

export function draftOf(rows: FirstRows): Draft {
  return {
    columns: guessColumns(rows.columns),
    currency: '',
    decimal: '',
    encoding: '',
    years: '',
    conditionKnown: '',
    entries: '',
    only: '',
    from: '',
    saveAs: '',
  }
}

/** Whether the form states where prices are and which item each belongs to. */
export function isPriceList({ columns }: Draft): boolean {
  return columns.price !== undefined && Object.keys(columns).some((field) => field === 'name' || field === 'item_ref' || field.endsWith('_id'))
}

/** The form values of a saved mapping. */
export function mappingDraft({ name, mapping }: SavedPriceMapping): Draft {
  const { columns, currency = '', decimal = '', encoding = '', years = '', condition_known: isKnown = true, entries = '', only = {} } = mapping
  const pairs = Object.entries(only).map(([column, value]) => `${column}=${value}`)
  const conditionKnown = isKnown ? '' : 'false'
  return { columns, currency, decimal, encoding, years, conditionKnown, entries, only: pairs.join(','), from: name, saveAs: '' }
}

/** The newest saved mapping whose columns are all in the file; null for none. */
export function fittingMapping({ columns }: FirstRows, saved: readonly SavedPriceMapping[]): SavedPriceMapping | null {
  const isThere = (expression: string) => expression.startsWith('=') || columns.some((column) => expression.includes(column))
  const fits = ({ mapping }: SavedPriceMapping) => !mapping.entries && Object.values(mapping.columns).every(isThere)
  return saved.filter(fits).toSorted((a, b) => b.saved_at.localeCompare(a.saved_at))[0] ?? null
}

/** Parameters of an upload. */
export function parametersOf({ columns, currency, decimal, encoding, years, conditionKnown, entries, only, saveAs }: Draft): Record<string, string> {
  const map = Object.entries(columns)
    .flatMap(([field, column]) => (column.trim() === '' ? [] : `${field}=${column.trim()}`))
    .join(',')
  return { map, currency, decimal, encoding, years, condition_known: conditionKnown, entries, only, save_map: saveAs.trim() }
}

function short(cell: string): string {
  return cell.length > MAX_CELL_LENGTH ? `${cell.slice(0, MAX_CELL_LENGTH)}…` : cell
}

interface Props {
  name: string
  rows: FirstRows
  saved: readonly SavedPriceMapping[]
  draft: Draft
  onChange: (draft: Draft) => void
  /** called with the market of a chosen saved mapping */
  onMarket: (market: string) => void
}

export function ColumnMapping({ name, rows, saved, draft, onChange, onMarket }: Props) {
  const list = useId()
  const change = (changes: Partial<Draft>) => onChange({ ...draft, ...changes })
  const choose = (from: string) => {
    const found = saved.find((one) => one.name === from)
    if (!found) return onChange({ ...draftOf(rows), saveAs: draft.saveAs })
    if (found.mapping.market) onMarket(found.mapping.market)
    onChange({ ...mappingDraft(found), saveAs: draft.saveAs })
  }
  const others = Object.keys(draft.columns).filter((field) => !FIELDS.some((listed) => listed === field))
  const text = (label: string, value: string, set: (value: string) => void, more: { hint?: string; list?: string; placeholder?: string } = {}) => {
    const { hint, ...attributes } = more
    return (
      <Field label={label} {...(hint && { hint })}>
        <input type="text" value={value} {...attributes} onInput={(event) => set(event.currentTarget.value)} />
      </Field>
    )
  }
  return (
    <fieldset class="mapping">
      <legend>{t('columnsOf', { name })}</legend>
      <Table
        caption={t('firstRowsOf', { name })}
        rows={rows.rows.map((cells, index) => ({ cells, index }))}
        rowKey={({ index }) => index}
        columns={rows.columns.map((column, n) => ({ head: column, cell: (row: { cells: string[]; index: number }) => short(row.cells[n] ?? '') }))}
      />
      <datalist id={list}>
        {rows.columns.map((column) => (
          <option key={column} value={column} />
        ))}
      </datalist>
      <div class="fields">
        {saved.length > 0 && (
          <Field label={t('savedMapping')}>
            <select value={draft.from} onChange={(event) => choose(event.currentTarget.value)}>
              <option value="">–</option>
              {saved.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name}
                </option>
              ))}
            </select>
          </Field>
        )}
        {[...FIELDS, ...others].map((field) => (
          <div key={field}>
            {text(termText('column', field), draft.columns[field] ?? '', (column) => change({ columns: { ...draft.columns, [field]: column } }), {
              list,
              ...(field === 'price' && { hint: t('columnHint', { name: '{name}', type: '{type}' }) }),
            })}
          </div>
        ))}
        {text(t('currency'), draft.currency, (currency) => change({ currency: currency.toUpperCase() }), {
          placeholder: 'EUR',
          hint: t('listCurrencyHint'),
        })}
        <Field label={t('decimalSign')}>
          <select value={draft.decimal} onChange={(event) => change({ decimal: event.currentTarget.value })}>
            <option value="">–</option>
            {DECIMAL_SIGNS.map((sign) => (
              <option key={sign} value={sign}>
                {sign}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('encoding')}>
          <select value={draft.encoding} onChange={(event) => change({ encoding: event.currentTarget.value })}>
            <option value="">–</option>
            {ENCODINGS.map((encoding) => (
              <option key={encoding} value={encoding}>
                {encoding}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('yearsOfDates')} hint={t('yearsHint')}>
          <select value={draft.years} onChange={(event) => change({ years: event.currentTarget.value })}>
            <option value="">–</option>
            {YEARS.map((years) => (
              <option key={years} value={years}>
                {termText('years', years)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('condition')}>
          <select value={draft.conditionKnown} onChange={(event) => change({ conditionKnown: event.currentTarget.value })}>
            <option value="">–</option>
            <option value="false">{t('conditionUnknown')}</option>
          </select>
        </Field>
        {text(t('onlyRows'), draft.only, (only) => change({ only }), { placeholder: 'type=Card' })}
        {text(t('entriesInRow'), draft.entries, (entries) => change({ entries }), { placeholder: 'printings.*' })}
        {text(t('saveMappingAs'), draft.saveAs, (saveAs) => change({ saveAs }))}
      </div>
    </fieldset>
  )
}
