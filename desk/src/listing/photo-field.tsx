// Photos of a new listing: uploaded at once, shown in their order, and removed again.
import { useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { Refusal } from '#ui/states.tsx'
import { t } from '../words.ts'
import * as drafts from './drafts.ts'

const TYPES = 'image/jpeg,image/png,image/webp,image/avif'

export function PhotoField() {
  const [refused, setRefused] = useState<{ name: string; error: ApiError }[]>([])
  const { photos } = drafts.draft.value
  const add = async (files: FileList | null) => setRefused(await drafts.addPhotos([...(files ?? [])]))
  return (
    <div class="photos">
      <label class="files">
        <span class="button">{t('addPhotos')}</span> <span class="quiet">{t('photosHint')}</span>
        <input
          class="hidden"
          type="file"
          multiple
          accept={TYPES}
          onChange={({ currentTarget }) => {
            void add(currentTarget.files)
            currentTarget.value = ''
          }}
        />
      </label>
      <ul aria-live="polite" aria-busy={drafts.uploads.value > 0}>
        {photos.map(({ url, small }, i) => (
          <li key={url}>
            <img src={small} alt={t('photoOf', { position: String(i + 1) })} width={60} height={84} />
            <button
              type="button"
              class="plain"
              aria-label={`${t('delete')}: ${t('photoOf', { position: String(i + 1) })}`}
              onClick={() => drafts.setPhotos(photos.filter((photo) => photo.url !== url))}
            >
              ×
            </button>
          </li>
        ))}
        {drafts.uploads.value > 0 && <li class="quiet">{t('uploading', { count: drafts.uploads.value })}</li>}
      </ul>
      {refused.map(({ name, error }) => (
        <div key={name}>
          <strong>{name}</strong>
          <Refusal error={error} />
        </div>
      ))}
    </div>
  )
}
