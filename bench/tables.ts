// Tables for a terminal or for Markdown.

export interface Table {
  title: string
  head: string[]
  rows: string[][]
  /** number of leading columns that contain text */
  words: number
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function show(table: Table, markdown: boolean): string {
  return markdown ? `**${table.title}**\n\n${asMarkdown(table)}` : `${table.title}\n${asText(table)}`
}

function asText({ head, rows, words }: Table): string {
  const widths = head.map((title, i) => Math.max(...rows.map((row) => row[i]!.length), title.length))
  const last = head.length - 1
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, i) => (i < words || i === last ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function asMarkdown({ head, rows, words }: Table): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i < words ? '---' : '--:'))), ...rows.map(line)].join('\n')
}
