// Reads a body that is one file: sent as it is with any content type, or as the only part of multipart/form-data.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ErrorCode, invalid } from '#core/errors.ts'
import { withFamilyCode } from '#core/verb.ts'
import { unpackBody } from './unpack.ts'

export interface ReceivedFile {
  bytes: Buffer
  sha256: Buffer
  /** returns what represents the file when requests are compared */
  toJSON: () => object
}

const MULTIPART = /^multipart\/form-data\b/i
const BOUNDARY = /;\s*boundary="?([^\s";]+)/i

/** Turns every request body of the scope into a `ReceivedFile`. @param verb its errors have the code of its family */
export function acceptOneFile(scope: FastifyInstance, field: string, verb: { familyError: ErrorCode | null }): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async ({ headers, routeOptions }: FastifyRequest, body: Buffer) => {
    const type = headers['content-type'] ?? ''
    const whole = await unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit)
    try {
      return received(MULTIPART.test(type) ? await onlyPart(field, type, whole) : whole)
    } catch (error) {
      throw withFamilyCode(error, verb)
    }
  })
  // Without a body, no content-type parser runs: treat it as an empty file.
  scope.addHook('preValidation', async (request) => {
    request.body ??= received(Buffer.alloc(0))
  })
}

function received(bytes: Buffer): ReceivedFile {
  const sha256 = createHash('sha256').update(bytes).digest()
  return { bytes, sha256, toJSON: () => ({ size: bytes.length, sha256: sha256.toString('hex') }) }
}

/** The file in the only part of a form. @throws VALIDATION_ERROR */
async function onlyPart(field: string, type: string, body: Buffer): Promise<Buffer> {
  const boundary = BOUNDARY.exec(type)?.[1]
  // Counted first: thousands of parts would take the parser seconds.
  if (boundary === undefined || hasMoreThanTwo(body, `--${boundary}`)) throw invalid(field, 'only_file')
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    const file = form.get(field)
    if (file instanceof File) return Buffer.from(await file.arrayBuffer())
  } catch {
    // Not a valid form.
  }
  throw invalid(field, 'only_file')
}

function hasMoreThanTwo(body: Buffer, text: string): boolean {
  let at = -1
  for (let count = 0; count < 3; count += 1) {
    at = body.indexOf(text, at + 1)
    if (at < 0) return false
  }
  return true
}
