// Differences between two versions of a listing, old next to new.
import type { ComponentChildren } from 'preact'
import { Table } from '#ui/table.tsx'
import type { StoredListing } from '../api-types.ts'
import { count, language, lira, moment, t, termText } from '../words.ts'
import { certificateText } from './certificate.tsx'
import { Grade } from './grade.tsx'
import { ListingPicture } from './picture.tsx'

interface FieldChange {
  field: string
  before: unknown
  now: unknown
}

/** The fields relevant to an operator's decision. */
const FIELDS = [
  'status',
  'title',
  'description',
  'price',
  'quantity',
  'item_id',
  'grade_id',
  'language',
  'images',
  'shipping_payer',
  'offers_enabled',
  'min_offer_price',
  'certificate',
  'expires_at',
  'highlighted_until',
  'rejection_reason',
] as const satisfies (keyof StoredListing)[]

export function differences(before: StoredListing, now: StoredListing): FieldChange[] {
  return FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(now[field])).map((field) => ({
    field,
    before: before[field],
    now: now[field],
  }))
}

export function ChangeTable({ caption, before, changes }: { caption: string; before: string; changes: FieldChange[] }) {
  return (
    <Table
      caption={caption}
      rows={changes}
      rowKey={(change) => change.field}
      columns={[
        { head: caption, cell: (change) => termText('field', change.field) },
        { head: before, cell: (change) => <del>{shownField(change.field, change.before)}</del> },
        { head: t('nowIs'), cell: (change) => <ins>{shownField(change.field, change.now)}</ins> },
      ]}
    />
  )
}

/** Reports that a write was rejected because the listing has changed, with the differences. */
export function ChangedMeanwhile({ seen, now }: { seen: StoredListing; now: StoredListing }) {
  const changes = differences(seen, now)
  return (
    <div class="meanwhile" role="alert">
      <p>{t('changedMeanwhile')}</p>
      {seen.etag !== now.etag && changes.length === 0 && <p>{t('sameAgain')}</p>}
      {changes.length > 0 && <ChangeTable caption={t('changedFields')} before={t('whenOpened')} changes={changes} />}
    </div>
  )
}

function shownField(field: string, value: unknown): ComponentChildren {
  if (field === 'grade_id') return <Grade id={value as number | null} />
  if (value === null || value === undefined || value === '') return '–'
  switch (field) {
    case 'price':
    case 'min_offer_price':
      return lira(value as number)
    case 'quantity':
      return count(value as number)
    case 'language':
      return language(value as string)
    case 'images':
      return <Pictures of={value as StoredListing['images']} />
    case 'shipping_payer':
      return termText('payer', value as string)
    case 'offers_enabled':
      return t(value ? 'yes' : 'no')
    case 'certificate':
      return certificateText(value as NonNullable<StoredListing['certificate']>)
    case 'status':
      return termText('status', value as string)
    case 'expires_at':
    case 'highlighted_until':
      return moment(value as string)
    default:
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

/** The pictures in their order; their addresses are the names, as the same picture before and after is then recognised. */
function Pictures({ of: images }: { of: StoredListing['images'] }) {
  if (images.length === 0) return <>–</>
  return (
    <span class="pictures">
      {images.map(({ url }) => (
        <ListingPicture key={url} url={url} name={url} />
      ))}
    </span>
  )
}
