// Images fetched from their sources and cached: those of the catalogue for everyone, and any image for pages of signed-in people; and photos
// of sellers from their store.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PHOTO_KEY, PHOTOS } from '#catalogue/records/image-addresses.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { storedImages } from '#catalogue/snapshot/item-json.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { matchesTag } from '#http/response.ts'
import { registerOtherMethods } from '#http/routes.ts'
import type { ImageProxy } from './image-proxy.ts'
import type { OpenImage } from './image-store.ts'

/** Opened directly, an image cannot run scripts. */
const SAFE = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' }

const PUBLIC = {
  ...SAFE,
  // The path contains a hash of the image's address, whose content rarely changes.
  'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
  // Other origins may embed it regardless of their policy.
  'cross-origin-resource-policy': 'cross-origin',
}
const IMMUTABLE = { ...PUBLIC, 'cache-control': 'public, max-age=31536000, immutable' }
const PRIVATE = { ...SAFE, 'cache-control': 'private, max-age=86400', 'cross-origin-resource-policy': 'same-origin' }

interface Params {
  id: string
  order: string
}

/** Reads a size of a photo; null if it does not exist. */
interface Photos {
  files: { read: (key: string, width: number) => Promise<Buffer | null> }
}

/** An image's stored address, and the one in responses. */
interface ImageAddress {
  url: string
  address: string
}

/** Adds the routes of the catalogue's images to the public listener. No key is required, because pages cannot send one with an image. */
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
    const answer = async (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply): Promise<FastifyReply> => {
      const { url, params } = request
      const found = find(Number(params.id), Number(params.order))
      // Must match the address in responses exactly, because otherwise images could be enumerated by id.
      if (!found?.address.endsWith(url.split('?', 1)[0]!)) {
        throw new ServiceError('NOT_FOUND', reason('no_image'), { headers: { 'cache-control': 'no-store' } })
      }
      return sendImage(request, reply, fromCache(await images.open(found.url)), PUBLIC)
    }
    app.get(path, { schema, exposeHeadRoute: false }, answer)
    app.head(path, { schema }, answer)
    registerOtherMethods(app, path, ['GET'])
  }
}

/** Adds the route of sellers' photos to the public listener. The content of an address never changes. */
export function addPhotos(app: FastifyInstance, node: { photos: Photos }): void {
  const path = `${PHOTOS}:key/:file`
  const schema = { hide: true } as object
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const photo = await openPhoto(node.photos, request.url.split('?', 1)[0]!)
    if (!photo) throw new ServiceError('NOT_FOUND', reason('no_photo'), { headers: { 'cache-control': 'no-store' } })
    return sendImage(request, reply, photo, IMMUTABLE)
  }
  app.get(path, { schema, exposeHeadRoute: false }, answer)
  app.head(path, { schema }, answer)
  registerOtherMethods(app, path, ['GET'])
}

const PHOTO = new RegExp(`${PHOTO_KEY}([1-9]\\d{0,3})\\.webp$`)

/** The photo at an address; null if there is none. */
async function openPhoto({ files }: Photos, address: string): Promise<SentImage | null> {
  const [, key, width] = PHOTO.exec(address) ?? []
  const bytes = key === undefined ? null : await files.read(key, Number(width))
  return bytes && { tag: `${key}-${width}`, type: 'image/webp', bytes: bytes.length, open: () => bytes, close: async () => {} }
}

interface PictureParts {
  /** opens the proxy when the first picture is requested */
  images: () => Promise<ImageProxy>
  photos: Photos
  /** @throws UNAUTHENTICATED if nobody is signed in */
  viewerOf: (request: FastifyRequest) => Promise<unknown>
}

/** Adds a route for pictures at any address, for pages whose browser must not contact addresses that sellers chose. */
export function addPictures(app: FastifyInstance, path: string, { images, photos, viewerOf }: PictureParts): void {
  const schema = { hide: true } as object
  app.get<{ Querystring: { url?: unknown } }>(path, { schema, exposeHeadRoute: false }, async (request, reply) => {
    await viewerOf(request)
    const { url } = request.query
    if (typeof url !== 'string' || !SHAPE.test(url) || !URL.canParse(url)) throw invalid('url', 'url', { values: ['https://', 'http://'] })
    // Our own address may be private, where nothing is fetched from.
    const photo = await openPhoto(photos, url)
    if (photo) return sendImage(request, reply, photo, PRIVATE)
    const proxy = await images().catch((cause: unknown) => {
      throw new ServiceError('UNAVAILABLE', reason('image_not_stored'), { headers: { 'cache-control': 'no-store' }, cause })
    })
    return sendImage(request, reply, fromCache(await proxy.open(url)), PRIVATE)
  })
  registerOtherMethods(app, path, ['GET'])
}

const SHAPE = /^https?:\/\/\S{1,2000}$/i

/** An image to send, opened; `open` takes it over. */
interface SentImage extends Pick<OpenImage, 'tag' | 'type' | 'bytes'> {
  open: () => Readable | Buffer
  close: () => Promise<void>
}

/** An image of the cache, with its open file. */
function fromCache({ handle, ...image }: OpenImage): SentImage {
  return { ...image, open: () => handle.createReadStream(), close: () => handle.close() }
}

async function sendImage({ method, headers }: FastifyRequest, reply: FastifyReply, image: SentImage, sent: object): Promise<FastifyReply> {
  const tag = `"${image.tag}"`
  const isKnown = matchesTag(headers['if-none-match'] ?? '', tag)
  const hasBody = method === 'GET' && !isKnown
  if (!hasBody) await image.close()
  reply.headers(sent).header('etag', tag)
  if (isKnown) return reply.code(304).send()
  reply.type(image.type).header('content-length', image.bytes)
  return reply.send(hasBody ? image.open() : undefined)
}
