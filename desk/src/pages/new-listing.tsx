// Writes a new listing by keyboard: finds the card, compares the price with the market, and saves; in stack mode one card after another.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { ApiError } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Picture } from '#ui/picture.tsx'
import { Await, Empty, Failure } from '#ui/states.tsx'
import type { ListingForecast } from '../../../client/src/api.ts'
import { mayWrite, request, useData } from '../api.ts'
import { type Card, printingOf } from '../listing/card.ts'
import { CardSearch } from '../listing/card-search.tsx'
import * as drafts from '../listing/drafts.ts'
import { ForecastNote } from '../listing/forecast-note.tsx'
import { numberIn, OfferFields, StockFields } from '../listing/listing-fields.tsx'
import { dropMarketFacts, labelOf, loadMarketFacts, useMarketFacts } from '../listing/market-facts.ts'
import { MarketPanel } from '../listing/market-panel.tsx'
import { PhotoField } from '../listing/photo-field.tsx'
import { SaveList } from '../listing/save-list.tsx'
import { confirmPrice, warningsAbout } from '../price-check.tsx'
import { t, termText } from '../words.ts'

export function NewListingPage() {
  return (
    <>
      <p class="trail">
        <a href="/desk">{t('listings')}</a>
      </p>
      <Heading>{t('newListing')}</Heading>
      {mayWrite() ? <IfOpen /> : <Empty>{t('readOnlyKey')}</Empty>}
    </>
  )
}

/** The form if the operator lets the account create listings; otherwise a note. */
function IfOpen() {
  const me = useData('/me')
  useEffect(() => {
    drafts.loadDrafts()
    return dropMarketFacts
  }, [])
  return <Await of={me}>{({ listing_intake_open: open }) => (open ? <NewListing /> : <Empty>{t('intakeClosed')}</Empty>)}</Await>
}

function NewListing() {
  const { card, values, key, photos } = drafts.draft.value
  const search = useRef<HTMLInputElement>(null)
  const form = useRef<HTMLDivElement>(null)
  const { busy, error, save } = useSaving()
  const label = labelOf(values.label)
  const facts = useMarketFacts(card, label)
  const focusFirst = () => {
    const price = form.current?.querySelector<HTMLInputElement>('input[name=price]')
    // After the frame has focused the new page.
    queueMicrotask(() => (drafts.draft.value.card ? price : search.current)?.focus())
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another draft or card starts at its first field
  useEffect(focusFirst, [key, card?.id])
  return (
    <div class="listing-form">
      <div>
        <CardSearch input={search} onChoose={drafts.chooseCard} />
        {card && <ChosenCard of={card} />}
      </div>
      <MarketPanel of={facts} card={card} label={label} price={numberIn(values.price)} />
      <div ref={form}>
        <Form
          key={`${key} ${card?.id}`}
          submit={t('createListing')}
          busy={busy || drafts.uploads.value > 0}
          error={error}
          onEdit={drafts.storeValues}
          onSubmit={(entered) => {
            drafts.storeValues(entered)
            if (card) void save(card).then((saved) => !saved && focusFirst())
            else search.current?.focus()
          }}
        >
          <CardFields values={values} />
          <StockFields values={values} minQuantity={1} />
          <OfferFields values={values} hasDefaultTitle />
          <PhotoField photos={photos} uploads={drafts.uploads.value} onAdd={drafts.addPhotos} onChange={drafts.setPhotos} />
          <DryRun key={JSON.stringify(values)} canRun={card !== null} />
        </Form>
        <label class="check">
          <input type="checkbox" checked={drafts.isStack.value} onChange={({ currentTarget }) => drafts.chooseStack(currentTarget.checked)} />{' '}
          {t('stackMode')}
        </label>
        <SaveList onEdit={focusFirst} />
      </div>
    </div>
  )
}

/** Saves the current draft after its price is confirmed; `save` resolves with whether it was saved or handed over to the background. */
function useSaving() {
  const { route } = useLocation()
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null })
  const run = async (card: Card): Promise<boolean> => {
    const one = drafts.draft.value
    const price = numberIn(one.values.price) ?? 0
    // Without figures of the market there is nothing to compare with; the service checks everything else.
    const facts = await loadMarketFacts(card, labelOf(one.values.label)).catch(() => null)
    const warnings = warningsAbout(price, facts?.price?.amount ?? null)
    if (!(await confirmPrice(one.values.title || card.name, null, price, warnings))) return false
    if (drafts.isStack.value) {
      void drafts.saveInBackground(one)
      drafts.nextDraft()
      return true
    }
    const { id } = await drafts.createListing(one)
    drafts.nextDraft()
    route(`/desk/listings/${id}`)
    return true
  }
  const save = async (card: Card): Promise<boolean> => {
    setState({ busy: true, error: null })
    try {
      const saved = await run(card)
      setState({ busy: false, error: null })
      return saved
    } catch (error) {
      setState({ busy: false, error: asApiError(error) })
      return false
    }
  }
  return { ...state, save }
}

function ChosenCard({ of: card }: { of: Card }) {
  return (
    <div class="with-picture chosen-card">
      <Picture key={card.id} item={card} />
      <div>
        <strong>{card.name}</strong>
        <p class="quiet">{printingOf(card)}</p>
      </div>
    </div>
  )
}

function CardFields({ values }: { values: Values }) {
  const groups = useData('/groups')
  return (
    <div class="pair">
      <Field label={t('grade')}>
        <select name="label">
          <option value="">{t('notStated')}</option>
          {(groups.data ?? []).map(({ id, name, types }) => (
            <optgroup key={id} label={name}>
              {types.map((type) => (
                <option key={type.id} value={type.label} selected={type.label === values.label}>
                  {type.label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </Field>
      <Field label={termText('field', 'language')} hint={t('languageHint')}>
        <input name="language" maxLength={35} autocomplete="off" defaultValue={values.language} />
      </Field>
    </div>
  )
}

/** Asks the service what saving would lead to, without saving. */
function DryRun({ canRun }: { canRun: boolean }) {
  const [forecast, setForecast] = useState<ListingForecast | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const check = async () => {
    setError(null)
    try {
      const { data } = await request('POST', '/plus/listings', { query: { dry_run: 1 }, json: drafts.bodyOf(drafts.draft.value) })
      setForecast(data.forecast ?? null)
    } catch (thrown) {
      setError(asApiError(thrown))
    }
  }
  return (
    <div class="dry-run">
      <button type="button" disabled={!canRun} onClick={() => void check()}>
        {t('checkFirst')}
      </button>
      {forecast && <ForecastNote of={forecast} />}
      {error && <Failure error={error} />}
    </div>
  )
}
