// Rejects a listing or requests a change, with a preset or custom reason.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog, Field, Form } from '#ui/dialog.tsx'
import { t } from '../words.ts'

export type RefusalKind = 'reject' | 'request_change'

/** Common reasons, in the language of the console. */
export function presetReasons(): string[] {
  return PRESETS.map((name) => t(`preset.${name}`))
}

const PRESETS = ['other_card', 'not_sharp', 'condition', 'price', 'counterfeit', 'duplicate'] as const

const REFUSALS = {
  reject: { title: 'rejectTitle', submit: 'reject', label: 'reason', hint: 'reasonHint' },
  request_change: { title: 'requestChangeTitle', submit: 'requestChange', label: 'changeNote', hint: 'changeNoteHint' },
} as const

interface RefusalProps {
  kind: RefusalKind
  count?: number
  /** reason entered earlier */
  reason?: string
  children?: ComponentChildren
  busy: boolean
  error: Parameters<typeof Form>[0]['error']
  /** called with the text for the owner */
  onRefuse: (text: string) => void
  onClose: () => void
}

/** Asks why a listing is rejected, or what to change: a preset or custom text. */
export function RefusalDialog({ kind, count: number = 1, reason = '', children, busy, error, onRefuse, onClose }: RefusalProps) {
  const [text, setText] = useState(reason)
  const { title, submit, label, hint } = REFUSALS[kind]
  return (
    <Dialog title={t(title, { count: number })} onClose={onClose}>
      <Form submit={t(submit)} danger={kind === 'reject'} busy={busy} error={error} onSubmit={() => onRefuse(text.trim())} onCancel={onClose}>
        {children}
        <Field label={t(label)} hint={t(hint)}>
          <textarea name="reason" rows={3} required value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <Field label={t('presets')}>
          <select value="" onChange={(event) => setText(event.currentTarget.value)}>
            <option value="">–</option>
            {presetReasons().map((preset) => (
              <option key={preset}>{preset}</option>
            ))}
          </select>
        </Field>
      </Form>
    </Dialog>
  )
}
