// The pages of the listeners: developer page, guides, reference, changelog, the overview for language models, and the client.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '#core/errors.ts'
import type { Plan } from '#core/plans.ts'
import { demoKeyFor } from '#http/demo-key.ts'
import { sendBy } from '#http/fastify-adapter.ts'
import { languageInQuery } from '#http/language.ts'
import { compress, encodingFor, orNotModified } from '#http/response.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { builtScript } from './built-script.ts'
import { filledIn, GUIDES_PATH, type NavigationLink, PAGE_POLICY } from './content/frame.ts'
import { guidePage } from './guide-page.ts'
import { type Guide, type Guides, readGuides, repositoryBytes, repositoryFile } from './content/guides.ts'
import { homePage } from './home.ts'
import { type EndpointMap, llmsText } from './llms.ts'
import type { Document } from './reference/document.ts'
import type { SampleRules } from './reference/samples.ts'
import { OVERVIEW_PATH, REFERENCE_PATH, referencePages, type ReferencePages } from './reference/pages.ts'

export interface PagesNode {
  config: { publicUrl: string | null; port: number; rateLimits: Record<Plan, number> | null }
  /** key of the demo to show; null outside the demo */
  demoKey: string | null
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const HOST = /^[\w.:[\]-]{1,255}$/
const ASSETS: Record<string, string> = { 'guides.css': 'text/css; charset=utf-8', 'guides.js': 'text/javascript; charset=utf-8' }
/** Scripts for web pages of any origin, by address: files of `dist`. */
const SCRIPTS = { '/client.js': 'client/client.js', '/price-chart.js': 'price-chart/price-chart.js' }
const MARKDOWN = 'text/markdown; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
const hidden = { schema: { hide: true } as object }

type Get = (path: string, answer: (request: FastifyRequest, reply: FastifyReply) => unknown) => void

/** Adds the pages to the public listener. @param documentUrl address of the listener in its OpenAPI document */
export function addPages(app: FastifyInstance, { config, demoKey }: PagesNode, map: EndpointMap, documentUrl: string): void {
  const get = getterOf(app)
  const urlOf = (request: FastifyRequest) => config.publicUrl ?? originOf(request)
  /** The key to show; responses that contain it are not cached. */
  const keyFor = (request: FastifyRequest, reply: FastifyReply) => {
    if (demoKey !== null) reply.header('cache-control', 'no-store')
    return demoKeyFor(request, demoKey)
  }
  get('/', (request, reply) => {
    reply.header('content-security-policy', POLICY).type(HTML)
    return homePage({ url: urlOf(request), demoKey: keyFor(request, reply), rateLimits: config.rateLimits })
  })
  for (const [path, file] of Object.entries(SCRIPTS)) {
    const script = builtScript(path, file)
    get(path, (request, reply) => sendBy(reply, script(request.headers['if-none-match'])))
  }
  const reference = referenceOf(app, { url: documentUrl, credential: 'YOUR_API_KEY', hasClient: true }, [
    { path: '/graphql', title: 'GraphiQL' },
    { path: '/openapi.json', title: 'OpenAPI document' },
  ])
  const guides = addGuides(get, 'public', { urlOf, keyFor, reference })
  addReferencePages(get, reference, { documentUrl, urlOf, keyFor })
  get('/changelog', (_request, reply) => reply.type(MARKDOWN).send(repositoryFile('CHANGELOG.md')))
  get('/llms.txt', (request, reply) => reply.type('text/plain; charset=utf-8').send(llmsText(urlOf(request), map, guides().pages.values())))
}

/** Adds guides and reference to the operator's listener. @param documentUrl address of the listener in its OpenAPI document */
export function addOperatorPages(app: FastifyInstance, { publicUrl, port }: { publicUrl: string | null; port: number }, documentUrl: string): void {
  const get = getterOf(app)
  const reference = referenceOf(app, { url: documentUrl, credential: 'YOUR_OPERATOR_TOKEN', hasClient: false }, [
    { path: '/operator/openapi.json', title: 'OpenAPI document' },
  ])
  const keyFor = () => null
  addGuides(get, 'operator', { urlOf: () => publicUrl ?? `http://127.0.0.1:${port}`, keyFor, reference })
  addReferencePages(get, reference, { documentUrl, urlOf: originOf, keyFor })
}

interface Shown {
  /** address to show in place of the documented one */
  urlOf: (request: FastifyRequest) => string
  /** the demo's key; null outside the demo */
  keyFor: (request: FastifyRequest, reply: FastifyReply) => string | null
}

function getterOf(app: FastifyInstance): Get {
  return (path, answer) => {
    app.get(path, hidden, answer)
    registerOtherMethods(app, path, ['GET'])
  }
}

function originOf({ headers: { host = '' }, protocol }: FastifyRequest): string {
  return `${protocol}://${HOST.test(host) ? host : 'localhost'}`
}

/** Sends a page with an entity tag, compressed: it is asked for again at each visit, unless it must not be stored. */
async function sendPage(request: FastifyRequest, reply: FastifyReply, html: string): Promise<FastifyReply> {
  const body = Buffer.from(html)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = ['content-type', HTML, 'content-security-policy', PAGE_POLICY]
  if (!reply.hasHeader('cache-control')) headers.push('cache-control', 'no-cache')
  const response = orNotModified({ status: 200, headers, etag, body }, request.headers['if-none-match'])
  return sendBy(reply, await compress(response, encodingFor(request.headers['accept-encoding'])))
}

function missingPage({ method, url }: FastifyRequest): Error {
  return notFound('no_route', { method, path: url.split('?', 1)[0]! })
}

/** The pages, made from the finished document when the first one is read. */
function referenceOf(app: FastifyInstance, rules: SampleRules, links: readonly NavigationLink[]): () => ReferencePages {
  let pages: ReferencePages | null = null
  const all = [{ path: GUIDES_PATH, title: 'Guides' }, ...links]
  return () => (pages ??= referencePages(app.swagger() as unknown as Document, rules, all))
}

function addReferencePages(get: Get, reference: () => ReferencePages, { documentUrl, urlOf, keyFor }: Shown & { documentUrl: string }): void {
  const send = (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const html = reference().pages.get(name)
    if (html === undefined) throw missingPage(request)
    return sendPage(request, reply, filledIn(html, { documented: documentUrl, url: urlOf(request), demoKey: keyFor(request, reply) }))
  }
  get(OVERVIEW_PATH, (request, reply) => send('', request, reply))
  get(`${OVERVIEW_PATH}/`, (request, reply) => send('', request, reply))
  get(`${REFERENCE_PATH}/:name`, (request, reply) => send((request.params as { name: string }).name, request, reply))
}

function addGuides(
  get: Get,
  listener: 'public' | 'operator',
  { urlOf, keyFor, reference }: Shown & { reference: () => ReferencePages },
): () => Guides {
  let read: Guides | null = null
  const guides = () => (read ??= readGuides(listener))
  const found = (request: FastifyRequest, name: string): Guide => {
    const guide = guides().pages.get(name)
    if (!guide) throw missingPage(request)
    return guide
  }
  get(GUIDES_PATH, ({ query }, reply) => {
    // Of the guides in Turkish, the first is where people begin.
    const first = languageInQuery(query) === 'tr' ? 'start?lang=tr' : listener === 'public' ? 'api-guide' : 'operating'
    return reply.redirect(`${GUIDES_PATH}/${first}`)
  })
  get(`${GUIDES_PATH}/search.json`, () => [...guides().sections, ...reference().sections])
  get(`${GUIDES_PATH}/assets/:name`, (request, reply) => {
    const { name } = request.params as { name: string }
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (type === undefined) throw missingPage(request)
    return reply
      .type(type)
      .header('cache-control', 'no-cache')
      .send(repositoryFile(`src/pages/${name}`))
  })
  get(`${GUIDES_PATH}/files/*`, (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    if (!guides().files.has(path)) throw missingPage(request)
    if (path.endsWith('.png')) return reply.type('image/png').send(repositoryBytes(path))
    return reply.type(path.endsWith('.md') ? MARKDOWN : 'text/plain; charset=utf-8').send(repositoryFile(path))
  })
  get(`${GUIDES_PATH}/:name`, (request, reply) => {
    const { name } = request.params as { name: string }
    const language = languageInQuery(request.query) ?? 'en'
    const inLanguage = (guide: Guide) => (language === 'tr' && guide.turkish) || guide
    if (name.endsWith('.md')) return reply.type(MARKDOWN).send(inLanguage(found(request, name.slice(0, -3))).markdown)
    const guide = found(request, name)
    const facts = { url: urlOf(request), demoKey: keyFor(request, reply), hasGraphiql: listener === 'public' }
    return sendPage(request, reply, guidePage({ guide, language, all: guides().pages.values(), ...facts }))
  })
  return guides
}
