// A button for a write, hidden from people without a role that allows it.
import type { ComponentProps } from 'preact'
import { isAllowed, type Need } from '../api.ts'

type ActProps = Omit<ComponentProps<'button'>, 'type'> & { need: Need }

export function PermittedButton({ need, ...button }: ActProps) {
  return isAllowed(need) ? <button type="button" {...button} /> : null
}
