// The API reference of a listener as pages: an overview, a page for each tag, and the list of rules.
import { ERROR_STATUS } from '#core/errors.ts'
import { RULES } from '#core/problem-texts/rules.ts'
import { framed, type NavigationLink } from '../content/frame.ts'
import { escapeHtml } from '../content/html.ts'
import { markdown } from '../content/markdown.ts'
import type { Section } from '../content/guides.ts'
import { type Document, type Endpoint, endpointsByTag } from './document.ts'
import type { SampleRules } from './samples.ts'
import { tagArticle } from './tag-page.ts'

export const OVERVIEW_PATH = '/docs'
export const REFERENCE_PATH = '/docs/reference'
const RULES_PAGE = 'rules'

export interface ReferencePages {
  /** HTML by the name after `REFERENCE_PATH`; the overview is `` */
  pages: ReadonlyMap<string, string>
  /** operations, for the search */
  sections: readonly Section[]
}

/** @param links to other documentation of the listener */
export function referencePages(document: Document, rules: SampleRules, links: readonly NavigationLink[]): ReferencePages {
  const byTag = endpointsByTag(document)
  const navigationFor = (current: string): NavigationLink[][] => [
    [
      { path: OVERVIEW_PATH, title: 'Overview', isCurrent: current === '' },
      ...document.tags.map(({ name }) => ({ path: pathOf(name), title: name, isCurrent: slugOf(name) === current })),
      { path: `${REFERENCE_PATH}/${RULES_PAGE}`, title: 'Rules of errors', isCurrent: current === RULES_PAGE },
    ],
    [...links],
  ]
  const page = (name: string, title: string, article: string): [string, string] => [
    name,
    framed({ title: `${title} · ${document.info.title}`, navigation: navigationFor(name), article }),
  ]
  const tags = document.tags.map((tag) => page(slugOf(tag.name), tag.name, tagArticle(document, tag, byTag.get(tag.name) ?? [], rules)))
  const pages = new Map([page('', 'Reference', overview(document, byTag)), page(RULES_PAGE, 'Rules of errors', rulesArticle()), ...tags])
  const sections = [...byTag].flatMap(([tag, endpoints]) =>
    endpoints.map(({ method, path, operation }) => ({
      path: `${pathOf(tag)}#${operation.operationId}`,
      guide: `Reference: ${tag}`,
      heading: `${operation.summary} (${method} ${path})`,
      text: `${operation.operationId} ${operation.description?.split('```')[0] ?? ''}`,
    })),
  )
  return { pages, sections }
}

const slugOf = (tag: string) => tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')
const pathOf = (tag: string) => `${REFERENCE_PATH}/${slugOf(tag)}`

function overview(document: Document, byTag: ReadonlyMap<string, Endpoint[]>): string {
  const parts = document.tags.map(({ name, description = '' }) => {
    const rows = byTag.get(name)!.map(({ method, path, operation: { operationId, summary } }) => {
      const link = `<a href="${pathOf(name)}#${operationId}">${escapeHtml(summary)}</a>`
      return `<tr><td><span class="method">${method}</span></td><td><code>${escapeHtml(path)}</code></td><td>${link}</td></tr>`
    })
    const [about = ''] = description.split('\n\n')
    return `<h2 id="${slugOf(name)}"><a href="${pathOf(name)}">${escapeHtml(name)}</a></h2>${markdown.render(about)}<table tabindex="0"><thead><tr><th>Method</th><th>Path</th><th>Operation</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
  })
  return `<h1>${escapeHtml(document.info.title)}</h1>
${markdown.render(document.info.description)}
${errorCodes(document)}
${parts.join('\n')}`
}

/** Every error code of the document with a message as an example. */
function errorCodes({ paths }: Document): string {
  const messages = new Map<string, string>()
  for (const { responses } of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    for (const { content = {} } of Object.values(responses)) {
      for (const [code, { value }] of Object.entries(content['application/json']?.examples ?? {})) {
        if (!messages.has(code)) messages.set(code, (value as { error: { message: string } }).error.message)
      }
    }
  }
  const rows = Object.entries(ERROR_STATUS).flatMap(([code, status]) => {
    const message = messages.get(code)
    return message === undefined ? [] : [`<tr><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(message)}</td></tr>`]
  })
  return `<h2 id="errors">Error codes</h2>
<p>The error has a <code>code</code>, a <code>message</code> and, if a rule is broken, its name as <code>rule</code> and its <code>params</code>:
see the <a href="${REFERENCE_PATH}/${RULES_PAGE}">rules</a>. Match codes and rules, never messages.</p>
<table tabindex="0"><thead><tr><th>Status</th><th>Code</th><th>For example</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function rulesArticle(): string {
  const rows = Object.entries(RULES).map(([rule, text]) => `<tr><td><code>${rule}</code></td><td>${escapeHtml(text)}</td></tr>`)
  return `<h1>Rules of errors</h1>
<p>An error, and each entry of its <code>details</code>, names the broken rule as <code>rule</code>. <code>params</code> has the values that the text shows in
braces; parts in brackets appear only if their values are given.</p>
<table tabindex="0"><thead><tr><th>Rule</th><th>Text</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}
