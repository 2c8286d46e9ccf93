// Renders the Markdown guides of the repository as pages with anchors, language tabs and a search index.
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { GUIDES_PATH } from './frame.ts'
import { codeTabs, LANGUAGES, markdown } from './markdown.ts'

interface GuideSource {
  name: string
  title: string
  /** paths in the repository, rendered as one page */
  files: readonly string[]
}

/** For the operator's listener, before the others. */
const OPERATOR_GUIDES: readonly GuideSource[] = [
  { name: 'operating', title: "Operator's guide", files: ['docs/operating.md'] },
  { name: 'upgrading', title: 'Upgrading', files: ['docs/upgrading.md'] },
  { name: 'scaling', title: 'Scaling', files: ['docs/scaling.md'] },
  { name: 'reliability', title: 'Reliability', files: ['docs/reliability.md'] },
]

/** In the order of the navigation. */
const GUIDES: readonly GuideSource[] = [
  { name: 'start', title: 'Start', files: ['docs/start.md'] },
  { name: 'catalogue-sources', title: 'Catalogue sources', files: ['docs/catalogue-sources.md'] },
  { name: 'first-hour', title: 'The first hour', files: ['docs/first-hour.md'] },
  { name: 'api-guide', title: 'API guide', files: ['docs/api-guide.md'] },
  { name: 'graphql', title: 'GraphQL', files: ['docs/graphql.md'] },
  { name: 'webhooks', title: 'Webhooks', files: ['docs/webhooks.md'] },
  { name: 'selling', title: 'Selling', files: ['docs/selling.md'] },
  { name: 'prices', title: 'Prices', files: ['docs/prices.md'] },
  { name: 'listing-states', title: 'Listing states', files: ['docs/listing-states.md'] },
  { name: 'mcp', title: 'Language models (MCP)', files: ['docs/mcp.md'] },
  { name: 'client', title: 'TypeScript client', files: ['client/README.md'] },
  {
    name: 'examples',
    title: 'Examples',
    files: ['price-widget', 'webhook-receiver', 'listing-sync', 'storefront'].map((example) => `examples/${example}/README.md`),
  },
  { name: 'changelog', title: 'Changelog', files: ['CHANGELOG.md'] },
]

export interface GuideText {
  title: string
  markdown: string
  /** the article as HTML; addresses and key placeholders are as in the Markdown */
  html: string
}

export interface Guide extends GuideText {
  name: string
  /** the same in Turkish; null if it is not translated */
  turkish: GuideText | null
}

/** A section of a guide, as a search entry. */
export interface Section {
  path: string
  guide: string
  heading: string
  text: string
}

export interface Guides {
  pages: ReadonlyMap<string, Guide>
  sections: readonly Section[]
  /** repository files that guides link to, by path */
  files: ReadonlySet<string>
}

const ROOT = new URL('../../../', import.meta.url)

/** A file of the repository as text. */
export function repositoryFile(path: string): string {
  return repositoryBytes(path).toString('utf8')
}

/** A file of the repository as bytes. */
export function repositoryBytes(path: string): Buffer {
  return readFileSync(new URL(path, ROOT))
}

/** Where the Turkish text of a guide is. */
function turkishFile(file: string): string {
  return posix.join(posix.dirname(file), 'tr', posix.basename(file))
}

/** Reads and renders all guides of a listener. */
export function readGuides(listener: 'public' | 'operator'): Guides {
  const sourcesOf = listener === 'operator' ? [...OPERATOR_GUIDES, ...GUIDES] : GUIDES
  const guideOf = new Map(
    sourcesOf.flatMap(({ name, files: own }) => own.flatMap((file) => [[file, name] as const, [turkishFile(file), `${name}?lang=tr`] as const])),
  )
  const files = new Set<string>()
  const sections: Section[] = []
  const pages = sourcesOf.map(({ name, title, files: sources }): Guide => {
    const texts = sources.map(repositoryFile)
    const ids = new Set<string>()
    const html = texts.map((text, i) => render(text, { name, title, directory: posix.dirname(sources[i]!), ids, files, guideOf, sections }))
    return { name, title, markdown: texts.join('\n'), html: html.join(''), turkish: inTurkish(name, sources[0]!) }
  })
  function inTurkish(name: string, source: string): GuideText | null {
    const file = turkishFile(source)
    if (!existsSync(new URL(file, ROOT))) return null
    const text = repositoryFile(file)
    const title = /^# (.*)$/m.exec(text)![1]!
    // The search is in English.
    const html = render(text, { name, title, directory: posix.dirname(file), ids: new Set(), files, guideOf, sections: [] })
    return { title, markdown: text, html }
  }
  return { pages: new Map(pages.map((page) => [page.name, page])), sections, files }
}

interface Rendering {
  name: string
  title: string
  /** folder of the file, which links are relative to */
  directory: string
  /** anchors already used on the page */
  ids: Set<string>
  files: Set<string>
  /** guide of a file */
  guideOf: ReadonlyMap<string, string>
  sections: Section[]
}

type Token = ReturnType<typeof markdown.parse>[number]

function render(text: string, rendering: Rendering): string {
  const tokens = markdown.parse(text, {})
  const parts: string[] = []
  let rest: Token[] = []
  const flush = () => {
    parts.push(markdown.renderer.render(rest, markdown.options, {}))
    rest = []
  }
  let section: Section | null = null
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i]!
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[i + 1]!)
      const id = anchor(heading, rendering.ids)
      token.attrSet('id', id)
      section = { path: `${GUIDES_PATH}/${rendering.name}#${id}`, guide: rendering.title, heading, text: '' }
      rendering.sections.push(section)
    } else if (token.type === 'inline') {
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') link(child, 'href', rendering)
        if (child.type === 'image') link(child, 'src', rendering)
      }
      if (section) section.text += `${textOf(token)} `
    } else if (token.attrGet('style') !== null) {
      // The page's content security policy forbids style attributes.
      token.attrs = [['class', String(token.attrGet('style')).endsWith('right') ? 'number' : '']]
    } else if (token.type === 'table_open') {
      // Wide tables scroll, also by keyboard.
      token.attrSet('tabindex', '0')
    } else if (token.type === 'fence') {
      const block = [token]
      while (follows(block, tokens[i + 1])) block.push(tokens[(i += 1)]!)
      if (section) section.text += `${block.map(({ content }) => content).join(' ')} `
      flush()
      parts.push(codeTabs(block.map((fence) => ({ language: languageOf(fence), text: fence.content }))))
      continue
    }
    rest.push(token)
  }
  flush()
  return parts.join('')
}

/** The language without marks: `sh` for `sh run`, which marks commands that a test runs. */
const languageOf = ({ info }: Token) => info.split(' ')[0]!

/** Whether a code block directly follows others in another language, and so becomes a further tab. */
function follows(block: readonly Token[], next: Token | undefined): boolean {
  if (next?.type !== 'fence') return false
  const language = languageOf(next)
  return language in LANGUAGES && languageOf(block[0]!) in LANGUAGES && !block.some((token) => languageOf(token) === language)
}

function textOf({ children, content }: Token): string {
  return children?.map(({ type, content: text }) => (type.endsWith('break') ? ' ' : text)).join('') ?? content
}

/** The same anchor as on GitHub. */
function anchor(heading: string, taken: Set<string>): string {
  const plain = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  let id = plain
  for (let n = 1; taken.has(id); n += 1) id = `${plain}-${n}`
  taken.add(id)
  return id
}

/** Rewrites a link between repository files, or to a picture, to the address that serves it. */
function link(token: Token, attribute: 'href' | 'src', { directory, files, guideOf }: Rendering): void {
  const href = String(token.attrGet(attribute) ?? '')
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return
  const [path = '', hash] = href.split('#')
  const file = posix.join(directory, path)
  const guide = guideOf.get(file)
  if (guide === undefined) files.add(file)
  token.attrSet(
    attribute,
    (guide === undefined ? `${GUIDES_PATH}/files/${file}` : `${GUIDES_PATH}/${guide}`) + (hash === undefined ? '' : `#${hash}`),
  )
}
