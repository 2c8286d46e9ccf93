// Renders Markdown, with code blocks that the pages' script turns into tabs by language.
import MarkdownIt from 'markdown-it'
import { escapeHtml } from './html.ts'

export const LANGUAGES: Record<string, string> = { sh: 'curl', ts: 'TypeScript', python: 'Python', php: 'PHP' }

export interface Code {
  /** as after the fence of a code block: `sh` */
  language: string
  text: string
}

export const markdown = new MarkdownIt({ html: false })
markdown.renderer.rules.fence = (tokens, at) => codeTabs([{ language: tokens[at]!.info, text: tokens[at]!.content }])

/** Code with captions; the page's script turns several languages into tabs and adds copy buttons. */
export function codeTabs(blocks: readonly Code[]): string {
  const figures = blocks.map(({ language, text }) => {
    const caption = blocks.length > 1 ? `<figcaption>${LANGUAGES[language]}</figcaption>` : ''
    return `<figure class="code">${caption}<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`
  })
  return blocks.length > 1 ? `<div class="tabs">${figures.join('')}</div>\n` : figures.join('')
}
