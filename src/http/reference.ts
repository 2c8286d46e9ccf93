// The API reference of a listener: its OpenAPI document with examples, and the page that renders it.
import { readFileSync } from 'node:fs'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { nameSchemas, type SchemaHolder } from './component-schemas.ts'
import { addExamples, type ExampleRules, type OpenApi } from './examples.ts'
import { mergePaths } from './merge-paths.ts'
import { registerOtherMethods } from './routes.ts'

// The plugin's own policy allows pages to load from other hosts, and breaks them over plain HTTP by requiring HTTPS.
const POLICY = [
  "default-src 'self'",
  "base-uri 'self'",
  "font-src 'self' data:",
  "frame-ancestors 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src 'self'",
  "script-src-attr 'none'",
  "style-src 'self' 'unsafe-inline'",
].join('; ')

const pageFile = (filename: string) => ({ filename, content: readFileSync(new URL(filename, import.meta.url), 'utf8') })

const CONTACT = { name: 'The operator of this service' }
const LICENSE = { name: 'Apache License 2.0', identifier: 'Apache-2.0' }

export interface Reference extends ExampleRules {
  /** path of the page */
  page: string
  /** path of the document */
  document: string
  /** title, texts, tags and security schemes */
  openapi: Openapi & { info: object }
  /** address of the listener for clients; null for the origin of the document */
  server: string | null
}

type Openapi = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

/** Registers the document and the page; call it before the routes are registered. */
export async function addReference(app: FastifyInstance, { page, document, openapi, server, ...rules }: Reference): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: server ?? '/' }],
      ...openapi,
      info: { ...openapi.info, contact: CONTACT, license: LICENSE },
    },
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject
      // A copy: other listeners of the process build their documents from the same schemas.
      const document = structuredClone(made.openapiObject) as unknown as OpenApi & SchemaHolder
      addExamples(document, rules)
      mergePaths(document)
      nameSchemas(document)
      return document as unknown as typeof made.openapiObject
    },
  })
  await app.register(swaggerUi, {
    routePrefix: page,
    staticCSP: POLICY,
    theme: { title: openapi.info.title, css: [pageFile('reference-page.css')], js: [pageFile('reference-page.js')] },
    uiConfig: {
      persistAuthorization: true,
      docExpansion: 'list',
      defaultModelRendering: 'example',
      defaultModelsExpandDepth: -1,
      filter: true,
      syntaxHighlight: { theme: 'arta' },
    },
  })
  app.get(document, { schema: { hide: true } as object }, () => app.swagger())
  registerOtherMethods(app, document, ['GET'])
}
