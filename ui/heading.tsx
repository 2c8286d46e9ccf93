// The heading of a page, which is also the title of the window, after the current tab of the page.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Heading({ children }: { children: ComponentChildren }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const heading = ref.current?.textContent.trim() ?? ''
    const tab = document.querySelector('main .tabs [aria-current]')?.textContent.trim() ?? ''
    // Pages that share a heading differ in their tab.
    const names = heading.startsWith(tab) ? [heading] : [tab, heading]
    document.title = [...names, 'Mintmark'].join(' · ')
  })
  return <h1 ref={ref}>{children}</h1>
}
