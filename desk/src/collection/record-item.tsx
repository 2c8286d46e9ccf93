// The item of a record in a table: its picture, and its name as a link to the page of the record.
import { Picture } from '#ui/picture.tsx'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { t } from '../words.ts'
import { removals } from './record-changes.ts'

export function RecordItem({ of: record, collectionId }: { of: CollectionRecord; collectionId: number }) {
  const { id, item_name: name, item, card_uniq_id: code } = record
  const isRemoved = removals.value.some(({ recordId }) => recordId === id)
  const details = [item?.code, item?.set, item?.finish, code].filter(Boolean).join(' · ')
  return (
    <span class="with-picture">
      <Picture item={{ name, images: item?.image ? [{ url: item.image, order: 0 }] : [] }} small />
      <span>
        <a href={`/desk/collections/${collectionId}/records/${id}`}>{name}</a> <small class="quiet">{details}</small>{' '}
        {isRemoved && <small class="quiet">{t('removedSoon')}</small>}
      </span>
    </span>
  )
}
