// Serves the built client, which web pages can import without a bundler.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { notFound } from '#core/errors.ts'
import { type Response, orNotModified } from '#http/response.ts'

const BUILT = fileURLToPath(new URL('../../dist/client/client.js', import.meta.url))
const HEADERS = ['content-type', 'text/javascript; charset=utf-8', 'cache-control', 'public, max-age=3600', 'x-content-type-options', 'nosniff']

/** Reads the script once and returns a responder for requests with a given `If-None-Match`. @throws NOT_FOUND if it is not built */
export function clientScript(path: string): (ifNoneMatch: string | undefined) => Response {
  const body = existsSync(BUILT) ? readFileSync(BUILT) : null
  const etag = body && `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return (ifNoneMatch) => {
    if (!body) throw notFound('no_route', { method: 'GET', path })
    return orNotModified({ status: 200, headers: HEADERS, etag, body }, ifNoneMatch)
  }
}
