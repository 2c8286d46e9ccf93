// Serves built scripts, which web pages can import without a bundler: the client and the price chart.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { notFound } from '#core/errors.ts'
import { type Response, orNotModified } from '#http/response.ts'

const HEADERS = ['content-type', 'text/javascript; charset=utf-8', 'cache-control', 'public, max-age=3600', 'x-content-type-options', 'nosniff']

/**
 * Reads a script once and returns a responder for requests with a given `If-None-Match`, which throws NOT_FOUND if the script is not built.
 * @param path address
 * @param file in `dist`
 */
export function builtScript(path: string, file: string): (ifNoneMatch: string | undefined) => Response {
  const built = fileURLToPath(new URL(`../../dist/${file}`, import.meta.url))
  const body = existsSync(built) ? readFileSync(built) : null
  const etag = body && `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return (ifNoneMatch) => {
    if (!body) throw notFound('no_route', { method: 'GET', path })
    return orNotModified({ status: 200, headers: HEADERS, etag, body }, ifNoneMatch)
  }
}
