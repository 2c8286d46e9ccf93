// Single-key shortcuts of a part of a page.
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Calls `onKey` for keys pressed while the focus is within the element, so that shortcuts do not disturb other fields. */
export function useKeysWithin(whole: RefObject<HTMLElement | null>, onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey)
  latest.current = onKey
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element stays the same
  useEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event)
    const element = whole.current
    element?.addEventListener('keydown', listen)
    return () => element?.removeEventListener('keydown', listen)
  }, [])
}
