// Entity tags: evaluation of `If-Match` and `If-None-Match`.
import type { IncomingHttpHeaders } from 'node:http'
import type { Precondition } from '#core/precondition.ts'

/**
 * The condition of the header `If-Match`; null without it. Compares weakly: tags identify revisions, and proxies that
 * compress mark them with `W/`.
 */
export function preconditionOf({ headers }: { headers: IncomingHttpHeaders }): Precondition {
  const header = headers['if-match']
  if (header === undefined) return null
  const wanted = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return (tag) => wanted.includes('*') || wanted.includes(tag)
}

/** Whether `If-None-Match` matches this version; compares weakly, because proxies that compress mark tags with `W/`. */
export function matchesTag(header: string, tag: string): boolean {
  return header === '*' || header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
