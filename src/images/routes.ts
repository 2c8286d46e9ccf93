// GET /images/...: images of the catalogue, fetched from their sources and cached, without authentication.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { storedImages } from '#catalogue/snapshot/item-json.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { matchesTag } from '#http/entity-tag.ts'
import { registerOtherMethods } from '#http/routes.ts'
import type { ImageProxy } from './image-proxy.ts'

const HEADERS = {
  // The path contains a hash of the image's address, whose content rarely changes.
  'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
  // Other origins may embed it regardless of their policy; opened directly, it cannot run scripts.
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
}

interface Params {
  id: string
  order: string
}

/** An image's stored address, and the one in responses. */
interface ImageAddress {
  url: string
  address: string
}

/** Adds the routes to the public listener. No key is required, because pages cannot send one with an image. */
export function addImages(app: FastifyInstance, { images, catalogue }: { images: ImageProxy; catalogue: Catalogue }): void {
  const { addresses } = catalogue
  const finders: Record<string, (id: number, order: number) => ImageAddress | null> = {
    '/images/items/:id/:order/:version': (id, order) => {
      const row = catalogue.items.rowOf(id)
      const image = row < 0 ? undefined : storedImages(catalogue.items.texts.get(row).images).find((one) => one.order === order)
      return image ? { url: image.url, address: addresses.ofItem(id, order, image.url) } : null
    },
    '/images/categories/:id/:version': (id) => {
      const url = catalogue.categories.get(id)?.image
      return url ? { url, address: addresses.ofCategory(id, url) } : null
    },
  }
  const schema = { hide: true } as object
  for (const [path, find] of Object.entries(finders)) {
    const answer = async ({ method, url, params, headers }: FastifyRequest<{ Params: Params }>, reply: FastifyReply): Promise<FastifyReply> => {
      const found = find(Number(params.id), Number(params.order))
      // Must match the address in responses exactly, because otherwise images could be enumerated by id.
      if (!found?.address.endsWith(url.split('?', 1)[0]!)) {
        throw new ServiceError('NOT_FOUND', reason('no_image'), { headers: { 'cache-control': 'no-store' } })
      }
      const image = await images.open(found.url)
      const tag = `"${image.tag}"`
      const isKnown = matchesTag(headers['if-none-match'] ?? '', tag)
      const hasBody = method === 'GET' && !isKnown
      if (!hasBody) await image.handle.close()
      reply.headers(HEADERS).header('etag', tag)
      if (isKnown) return reply.code(304).send()
      reply.type(image.type).header('content-length', image.bytes)
      return reply.send(hasBody ? image.handle.createReadStream() : undefined)
    }
    app.get(path, { schema, exposeHeadRoute: false }, answer)
    app.head(path, { schema }, answer)
    registerOtherMethods(app, path, ['GET'])
  }
}
