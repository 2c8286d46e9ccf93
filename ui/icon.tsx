// Icons next to text: inline Lucide SVG in the colour of the text.

/** @param of SVG text of a file in `icons/` (see `ui/icons/LICENSE`) */
export function Icon({ of }: { of: string }) {
  const shapes = of.slice(of.indexOf('>', of.indexOf('<svg')) + 1, of.lastIndexOf('</svg>'))
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the markup is part of the build
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" dangerouslySetInnerHTML={{ __html: shapes }} />
}
