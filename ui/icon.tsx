// Icons beside words: the markup of a Lucide icon, built into the page, drawn in the colour of the text.

/** @param of text of a file of `lucide-static/icons` */
export function Icon({ of }: { of: string }) {
  const shapes = of.slice(of.indexOf('>', of.indexOf('<svg')) + 1, of.lastIndexOf('</svg>'))
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the markup is part of the build
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" dangerouslySetInnerHTML={{ __html: shapes }} />
}
