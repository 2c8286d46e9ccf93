// The heading of a page, which is also the title of the window.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Heading({ children }: { children: ComponentChildren }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${ref.current?.textContent.trim()} · Mintmark`
  })
  return <h1 ref={ref}>{children}</h1>
}
