// Lists copies of records for sale: quantity and price of each, with the market beside them; all become listings, or none.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Facts, FieldProblem } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { useWrite } from '../api.ts'
import type { Card } from '../listing/card.ts'
import { numberIn, PRICE } from '../listing/listing-fields.tsx'
import { labelOf, loadMarketFacts, useMarketFacts } from '../listing/market-facts.ts'
import { cheapestText, MarketPrice } from '../listing/market-panel.tsx'
import { confirmPrices, warningsAbout } from '../price-check.tsx'
import { sentence, t } from '../words.ts'
import { listingsOf } from './listed.ts'
import { recordsChanged } from './record-changes.ts'

interface ListForSaleProps {
  collectionId: number
  records: CollectionRecord[]
  onClose: () => void
  onListed: () => void
}

export function ListForSale({ collectionId, records, onClose, onListed }: ListForSaleProps) {
  const { busy, error, write } = useWrite()
  const [typed, setTyped] = useState<Values>({})
  const rowProblems = records.map((record, index) => problemsOf(error, index, record.id))
  const isInRows = rowProblems.some((problems) => problems !== null)
  const save = async (values: Values) => {
    const rows = records.map(({ id }) => ({
      record_id: id,
      quantity: numberIn(values[`quantity.${id}`]) ?? 1,
      price: numberIn(values[`price.${id}`]) ?? 0,
    }))
    if (
      !(await arePricesMeant(
        records,
        rows.map(({ price }) => price),
      ))
    )
      return
    const added = await write('POST', `/plus/collections/${collectionId}/list`, { rows })
    if (!added) return
    announce(t('listedRecords', { count: added.data.length }))
    recordsChanged()
    onListed()
  }
  return (
    <Dialog title={t('listForSale')} onClose={onClose}>
      <Form
        submit={t('listForSale')}
        busy={busy}
        error={isInRows ? null : error}
        onSubmit={(values) => void save(values)}
        onEdit={setTyped}
        onCancel={onClose}
      >
        <p class="quiet">{t('listForSaleText')}</p>
        {records.map((record, index) => (
          <Row key={record.id} of={record} price={numberIn(typed[`price.${record.id}`])} problems={rowProblems[index]!} />
        ))}
      </Form>
    </Dialog>
  )
}

/** What the service refused about a row; null if nothing. */
function problemsOf(error: ApiError | null, index: number, recordId: number) {
  if (!error) return null
  const ofRow = error.details
    .filter(({ field }) => field.startsWith(`rows.${index}.`))
    .map((problem) => <FieldProblem key={problem.field} of={problem} />)
  if (ofRow.length > 0) return ofRow
  const { id } = (error.params ?? {}) as { id?: number }
  return error.code === 'NOT_ENOUGH_OWNED' && id === recordId ? [sentence(error)] : null
}

/** Asks about unusual prices. */
async function arePricesMeant(records: readonly CollectionRecord[], prices: readonly number[]): Promise<boolean> {
  const facts = await Promise.all(records.map((record) => loadMarketFacts(cardOfRecord(record), labelOf(record.group_label)).catch(() => null)))
  const risky = records.flatMap(({ id, item_name: name }, index) => {
    const price = prices[index]!
    const warnings = warningsAbout(price, facts[index]?.price?.amount ?? null)
    return warnings.length === 0 ? [] : [{ key: id, name, old: null, price, warnings }]
  })
  if (risky.length === 0) return true
  return confirmPrices(risky, { title: t('riskyPriceTitle'), text: t('riskyPriceText'), action: t('saveAnyway') })
}

function cardOfRecord({ item_id: id, item_name: name, item, value }: CollectionRecord): Card {
  return { id, name, code: item?.code ?? null, set: item?.set ?? '', finish: item?.finish ?? null, market: value?.market, images: [] }
}

interface RowProps {
  of: CollectionRecord
  /** as typed; null for none */
  price: number | null
  problems: ReturnType<typeof problemsOf>
}

function Row({ of: record, price, problems }: RowProps) {
  const { id, item_name: name, group_label: grade, quantity: owned, for_trade: forTrade } = record
  const { facts, error } = useMarketFacts(cardOfRecord(record), labelOf(grade))
  const listed = useListed(id)
  const priceInput = useRef<HTMLInputElement>(null)
  const isRefused = problems !== null
  useEffect(() => {
    if (isRefused) priceInput.current?.focus()
  }, [isRefused])
  const left = Math.max(1, (forTrade || owned) - (listed ?? 0))
  return (
    <fieldset class="sale-row">
      <legend>{[name, grade].filter(Boolean).join(' · ')}</legend>
      <div class="pair">
        <Field label={t('quantity')} hint={t('ownedAndListed', { owned, listed: listed ?? 0 })}>
          <input key={listed} name={`quantity.${id}`} type="number" min={1} step={1} required defaultValue={String(left)} />
        </Field>
        <Field label={t('priceInLira')}>
          <input ref={priceInput} name={`price.${id}`} type="number" {...PRICE} required />
        </Field>
      </div>
      <Facts
        rows={[
          [t('marketPrice'), facts && <MarketPrice of={facts.price} price={price} />],
          [t('cheapestListing'), facts ? cheapestText(facts, undefined) : error && sentence(error)],
        ]}
      />
      {problems && (
        <div class="refusal" role="alert">
          {problems}
        </div>
      )}
    </fieldset>
  )
}

/** Copies of a record in listings; null until they are read. */
function useListed(recordId: number): number | null {
  const [copies, setCopies] = useState<number | null>(null)
  useEffect(() => {
    let here = true
    listingsOf(recordId).then(
      (listings) => here && setCopies(listings.reduce((sum, { quantity }) => sum + quantity, 0)),
      () => {},
    )
    return () => {
      here = false
    }
  }, [recordId])
  return copies
}
