// The pictures of the sample catalogue, drawn by ourselves (sample/draw-picture.ts), on both listeners under one path.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { SAMPLE_PICTURES } from '#catalogue/image-addresses.ts'
import { registerOtherMethods } from '#http/routes.ts'

const DRAWN = fileURLToPath(new URL('../../dist/sample-pictures/', import.meta.url))

const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

/** Adds the pictures under the path that the sample's items name; none where they were not drawn (`npm ci` does). */
export function addSamplePictures(app: FastifyInstance): void {
  if (!existsSync(DRAWN)) return
  app.register(fastifyStatic, {
    root: DRAWN,
    prefix: SAMPLE_PICTURES,
    index: false,
    decorateReply: false,
    maxAge: '1d',
    setHeaders: (reply) => reply.headers(HEADERS),
  })
  registerOtherMethods(app, `${SAMPLE_PICTURES}*`, ['GET'])
}
