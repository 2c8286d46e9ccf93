// The page of a guide: navigation between guides and languages, and the article.
import type { Language } from '#http/language.ts'
import { filledIn, framed, GUIDES_PATH } from './content/frame.ts'
import type { Guide } from './content/guides.ts'

export interface GuideFacts {
  guide: Guide
  /** Turkish only if the guide is translated */
  language: Language
  all: Iterable<Guide>
  /** address of the public API as the reader's browser uses it */
  url: string
  /** the demo's key, inserted into examples; null outside the demo */
  demoKey: string | null
  /** whether the listener has GraphiQL */
  hasGraphiql: boolean
}

export function guidePage({ guide, language, all, url, demoKey, hasGraphiql }: GuideFacts): string {
  const { turkish } = guide
  const isTurkish = language === 'tr' && turkish !== null
  const shown = isTurkish ? turkish : guide
  const inLanguage = isTurkish ? '?lang=tr' : ''
  const guides = Array.from(all, (one) => {
    const { title } = (isTurkish && one.turkish) || one
    return { path: `${GUIDES_PATH}/${one.name}${isTurkish && one.turkish ? inLanguage : ''}`, title, isCurrent: one.name === guide.name }
  })
  const others = [
    ...(turkish === null
      ? []
      : [isTurkish ? { path: `${GUIDES_PATH}/${guide.name}`, title: 'English' } : { path: `${GUIDES_PATH}/${guide.name}?lang=tr`, title: 'Türkçe' }]),
    { path: '/docs', title: 'REST reference' },
    ...(hasGraphiql ? [{ path: '/graphql', title: 'GraphiQL' }] : []),
    { path: `${GUIDES_PATH}/${guide.name}.md${inLanguage}`, title: 'This page as Markdown' },
  ]
  const article = filledIn(shown.html, { documented: 'http://127.0.0.1:8080', url, demoKey })
  return framed({ title: shown.title, language: isTurkish ? 'tr' : 'en', navigation: [guides, others], article })
}
