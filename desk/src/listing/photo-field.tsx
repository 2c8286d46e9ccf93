// Photos of a listing: uploaded at once, shown in their order, moved and removed. The first one is the cover.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Refusal } from '#ui/states.tsx'
import { t } from '../words.ts'
import type { ListingPhoto, RefusedFile } from './photos.ts'

const TYPES = 'image/jpeg,image/png,image/webp,image/avif'

interface PhotoFieldProps {
  photos: readonly ListingPhoto[]
  /** files that are being uploaded */
  uploads: number
  /** uploads files and adds them; resolves with those that were refused */
  onAdd: (files: readonly File[]) => Promise<RefusedFile[]>
  onChange: (photos: readonly ListingPhoto[]) => void
}

export function PhotoField({ photos, uploads, onAdd, onChange }: PhotoFieldProps) {
  const [refused, setRefused] = useState<RefusedFile[]>([])
  const input = useRef<HTMLInputElement>(null)
  const { list, focusAfter } = useFocusAfterChange(input)
  const move = (from: number, to: number, button: string) => {
    focusAfter(to, button)
    onChange(photos.toSpliced(from, 1).toSpliced(to, 0, photos[from]!))
  }
  const remove = (position: number) => {
    focusAfter(Math.min(position, photos.length - 2), 'remove')
    onChange(photos.toSpliced(position, 1))
  }
  return (
    <div class="photos">
      <label class="files">
        <span class="button">{t('addPhotos')}</span> <span class="quiet">{t('photosHint')}</span>
        <input
          ref={input}
          class="hidden"
          type="file"
          multiple
          accept={TYPES}
          onChange={({ currentTarget }) => {
            // Resetting the field empties its list of files.
            const files = [...(currentTarget.files ?? [])]
            currentTarget.value = ''
            void onAdd(files).then(setRefused)
          }}
        />
      </label>
      <ul ref={list} aria-live="polite" aria-busy={uploads > 0}>
        {photos.map(({ url, small }, i) => {
          const name = t('photoOf', { position: String(i + 1) })
          return (
            <li key={url}>
              <img src={small} alt={name} width={60} height={84} loading="lazy" referrerpolicy="no-referrer" />
              <span class="cover quiet">{i === 0 && t('coverPhoto')}</span>
              <span class="moves">
                <button
                  type="button"
                  class="plain"
                  name="earlier"
                  disabled={i === 0}
                  aria-label={`${t('moveEarlier')}: ${name}`}
                  onClick={() => move(i, i - 1, 'earlier')}
                >
                  ‹
                </button>
                <button type="button" class="plain" name="remove" aria-label={`${t('delete')}: ${name}`} onClick={() => remove(i)}>
                  ×
                </button>
                <button
                  type="button"
                  class="plain"
                  name="later"
                  disabled={i === photos.length - 1}
                  aria-label={`${t('moveLater')}: ${name}`}
                  onClick={() => move(i, i + 1, 'later')}
                >
                  ›
                </button>
              </span>
            </li>
          )
        })}
        {uploads > 0 && <li class="quiet">{t('uploading', { count: uploads })}</li>}
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

/** Keeps the keyboard focus on the photo that a button has moved, or on the one after a removed one; without photos, on `otherwise`. */
function useFocusAfterChange(otherwise: { current: HTMLElement | null }) {
  const list = useRef<HTMLUListElement>(null)
  const pending = useRef<{ position: number; button: string } | null>(null)
  useLayoutEffect(() => {
    if (!pending.current) return
    const { position, button } = pending.current
    pending.current = null
    const enabled = [...(list.current?.children[position]?.querySelectorAll<HTMLButtonElement>('button:enabled') ?? [])]
    // The first photo cannot be moved to the front, nor the last one to the end.
    const target = enabled.find(({ name }) => name === button) ?? enabled.find(({ name }) => name !== 'remove') ?? otherwise.current
    target?.focus()
  })
  return {
    list,
    focusAfter: (position: number, button: string) => {
      pending.current = { position, button }
    },
  }
}
