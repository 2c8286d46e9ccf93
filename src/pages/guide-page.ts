// The page of a guide: navigation between guides, and the article.
import { filledIn, framed, GUIDES_PATH } from './content/frame.ts'
import type { Guide } from './content/guides.ts'

export interface GuideFacts {
  guide: Guide
  all: Iterable<Guide>
  /** address of the public API as the reader's browser uses it */
  url: string
  /** the demo's key, inserted into examples; null outside the demo */
  demoKey: string | null
  /** whether the listener has GraphiQL */
  hasGraphiql: boolean
}

export function guidePage({ guide, all, url, demoKey, hasGraphiql }: GuideFacts): string {
  const guides = Array.from(all, ({ name, title }) => ({ path: `${GUIDES_PATH}/${name}`, title, isCurrent: name === guide.name }))
  const others = [
    { path: '/docs', title: 'REST reference' },
    ...(hasGraphiql ? [{ path: '/graphql', title: 'GraphiQL' }] : []),
    { path: `${GUIDES_PATH}/${guide.name}.md`, title: 'This page as Markdown' },
  ]
  const article = filledIn(guide.html, { documented: 'http://127.0.0.1:8080', url, demoKey })
  return framed({ title: guide.title, navigation: [guides, others], article })
}
