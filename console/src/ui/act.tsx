// A button that begins a write: whoever has no role that allows it does not see it.
import type { ComponentProps } from 'preact'
import { may, type Need } from '../api.ts'

type ActProps = Omit<ComponentProps<'button'>, 'type'> & { need: Need }

export function Act({ need, ...button }: ActProps) {
  return may(need) ? <button type="button" {...button} /> : null
}
