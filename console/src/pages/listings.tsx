// All listings, and a form to create one for a seller.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useAddressQuery } from '#ui/address.ts'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Id } from '#ui/id.tsx'
import { Picker } from '#ui/picker.tsx'
import { Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, isAllowed, useData, useWrite } from '../api.ts'
import type { StoredListing } from '../api-types.ts'
import { listingStatusValues as LISTING_STATUSES, shippingPayerValues as SHIPPING_PAYERS } from '../api-values.ts'
import { Grade } from '../ui/grade.tsx'
import { ListingBulk } from '../ui/listing-bulk.tsx'
import { ItemPicture } from '../ui/item-picture.tsx'
import { RecordLink } from '../ui/record-link.tsx'
import { accounts, items } from '../ui/sources.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, count, date, language, lira, moment, t, termText } from '../words.ts'

export function MarketTabs({ current }: { current: 'listings' | 'orders' | 'certificates' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/listings', text: t('listings'), current: current === 'listings' },
        { href: '/console/orders', text: t('orders'), current: current === 'orders' },
        { href: '/console/certificates', text: t('certificates'), current: current === 'certificates' },
      ]}
    />
  )
}

export function ListingsPage() {
  const [making, setMaking] = useState(false)
  const [version, changed] = useVersion()
  const { values } = useAddressQuery()
  // These columns have no index, so only filtered lists can be sorted by them.
  const narrow = Boolean(values.seller_id || values.item_id)
  return (
    <>
      <Heading>{t('market')}</Heading>
      <MarketTabs current="listings" />
      <List
        path="/listings"
        caption={t('listings')}
        empty={t('noMarketListings')}
        filters={[
          { name: 'search', label: t('title'), type: 'search' },
          { name: 'status', label: t('state'), options: LISTING_STATUSES.map((code) => ({ value: code, text: termText('status', code) })) },
          { name: 'seller_id', label: t('seller'), picker: accounts },
          { name: 'item_id', label: t('item'), picker: items },
        ]}
        actions={
          <PermittedButton need="market" class="main" onClick={() => setMaking(true)}>
            {t('newListing')}
          </PermittedButton>
        }
        version={version}
        bulk={
          isAllowed('market')
            ? {
                nameOf: (listing) => listing.title,
                actions: (listings, done) => (
                  <ListingBulk
                    listings={listings}
                    onDone={() => {
                      done()
                      changed()
                    }}
                  />
                ),
              }
            : undefined
        }
        rowKey={(listing) => listing.id}
        columns={[
          { head: t('title'), width: '22%', cell: (listing) => <Titled of={listing} /> },
          { head: t('state'), width: '11%', cell: (listing) => <Status code={listing.status} /> },
          { head: t('price'), width: '11%', number: true, ...(narrow && { sort: 'price' as const }), cell: (listing) => lira(listing.price) },
          { head: t('stock'), width: '5%', number: true, ...(narrow && { sort: 'quantity' as const }), cell: (listing) => count(listing.quantity) },
          { head: t('grade'), width: '12%', cell: (listing) => <Grade id={listing.grade_id} /> },
          {
            head: t('field.language'),
            width: '9%',
            wide: true,
            cell: (listing) => (listing.language === null ? '–' : language(listing.language)),
          },
          { head: t('seller'), width: '11%', cell: (listing) => <RecordLink of="accounts" id={listing.seller_id} /> },
          {
            head: t('item'),
            width: '15%',
            wide: true,
            cell: (listing) => <RecordLink of="items" id={listing.item_id} />,
          },
          {
            head: t('changedAt'),
            width: '10%',
            wide: true,
            optional: true,
            cell: (listing) => <span title={moment(listing.updated_at)}>{ago(listing.updated_at)}</span>,
          },
          { head: t('createdAt'), width: '10%', wide: true, optional: true, sort: 'created_at', cell: (listing) => date(listing.created_at) },
          { head: t('id'), width: '8%', number: true, wide: true, optional: true, cell: (listing) => <Id value={listing.id} /> },
        ]}
      />
      {making && <NewListing onClose={() => setMaking(false)} />}
    </>
  )
}

/** The title of a listing next to the picture of its item. */
function Titled({ of: { id, item_id: itemId, title } }: { of: StoredListing }) {
  return (
    <a class="with-picture" href={`/console/listings/${id}`}>
      <ItemPicture id={itemId} /> {title}
    </a>
  )
}

function NewListing({ onClose }: { onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const submit = async (values: Values) => {
    const created = await write('POST', '/listings', {
      seller_id: Number(values.seller_id),
      item_id: Number(values.item_id),
      ...listingFields(values),
    })
    if (!created) return
    announce(t('saved'))
    route(`/console/listings/${created.data.id}`)
  }
  return (
    <Dialog title={t('newListing')} onClose={onClose}>
      <Form submit={t('make')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <div class="pair">
          <Picker label={t('seller')} name="seller_id" source={accounts} required />
          <Picker label={t('item')} name="item_id" source={items} required />
        </div>
        <ListingFields listing={null} />
      </Form>
    </Dialog>
  )
}

/** Fields shared by the forms for new and existing listings. */
export function ListingFields({ listing }: { listing: StoredListing | null }) {
  const groups = useData('/groups')
  return (
    <>
      <Field label={t('title')}>
        <input name="title" required maxLength={255} defaultValue={listing?.title} />
      </Field>
      <Field label={t('description')}>
        <textarea name="description" rows={3} maxLength={5000} defaultValue={listing?.description} />
      </Field>
      <div class="pair">
        <Field label={t('priceInLira')}>
          <input name="price" type="number" min={1} max={9999999} step="0.01" required defaultValue={listing?.price} />
        </Field>
        <Field label={t('stock')}>
          <input name="quantity" type="number" min={0} required defaultValue={listing?.quantity ?? 1} />
        </Field>
        <Field label={t('shippingPayer')}>
          <select name="shipping_payer">
            {SHIPPING_PAYERS.map((code) => (
              <option key={code} value={code} selected={code === listing?.shipping_payer}>
                {termText('payer', code)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('spoken')}>
          <input name="language" maxLength={35} defaultValue={listing?.language ?? ''} placeholder="en" />
        </Field>
        <Field label={t('grade')}>
          <select name="grade_id" disabled={groups.data === null}>
            <option value="">–</option>
            {groups.data?.map((group) => (
              <optgroup key={group.id} label={group.name}>
                {group.types.map(({ id, label }) => (
                  <option key={id} value={id} selected={id === listing?.grade_id}>
                    {label}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </Field>
        <Field label={t('lowestOffer')} hint={t('lowestOfferHint')}>
          <input name="min_offer_price" type="number" min="0.01" step="0.01" defaultValue={listing?.min_offer_price ?? ''} />
        </Field>
      </div>
      <label class="check">
        <input type="checkbox" name="offers_enabled" defaultChecked={listing?.offers_enabled} /> {t('offersEnabled')}
      </label>
      <Field label={t('pictures')} hint={t('picturesHint')}>
        <textarea name="images" rows={2} defaultValue={listing?.images.map((image) => image.url).join('\n')} />
      </Field>
    </>
  )
}

/** The fields changed in a form. The others keep their current values, including concurrent changes by others. */
export function changedFields(opened: StoredListing, fields: ReturnType<typeof listingFields>): Partial<ReturnType<typeof listingFields>> {
  const before: Record<string, unknown> = { ...opened, images: opened.images.map(({ url }, order) => ({ url, order })) }
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}

export function listingFields(values: Values) {
  const number = (text: string) => (text === '' ? null : Number(text))
  const images = values.images!.split(/\s+/).filter(Boolean)
  return {
    title: values.title!,
    description: values.description,
    price: Number(values.price),
    quantity: Number(values.quantity),
    shipping_payer: values.shipping_payer,
    language: values.language || null,
    // Until the grades have loaded, the choice is not sent.
    ...(values.grade_id !== undefined && { grade_id: number(values.grade_id) }),
    offers_enabled: values.offers_enabled !== undefined,
    min_offer_price: number(values.min_offer_price!),
    images: images.map((url, order) => ({ url, order })),
  }
}
