// A figure with its name and a note; most link to the page with its details.
import type { ComponentChildren } from 'preact'
import { count } from './words.ts'

interface TileProps {
  href?: string
  label: string
  /** a number, or the text of another figure */
  value: number | string
  /** whether an action is required */
  waits: boolean
  /** note below the figure */
  children?: ComponentChildren
}

export function Tile({ href, label, value, waits, children }: TileProps) {
  const name = waits ? 'tile waits' : 'tile'
  const parts = (
    <>
      <span>{label}</span>
      <strong>{typeof value === 'number' ? count(value) : value}</strong>
      <small>{children || '\u00a0'}</small>
    </>
  )
  return href === undefined ? (
    <div class={name}>{parts}</div>
  ) : (
    <a class={name} href={href}>
      {parts}
    </a>
  )
}
