// A button for a write, hidden from people without a role that allows it.
import type { ComponentProps } from 'preact'
import { may, type Need } from '../api.ts'

type ActProps = Omit<ComponentProps<'button'>, 'type'> & { need: Need }

export function Act({ need, ...button }: ActProps) {
  return may(need) ? <button type="button" {...button} /> : null
}
