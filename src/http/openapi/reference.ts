// The OpenAPI document of a listener, with examples.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { nameSchemas, type SchemaHolder } from './component-schemas.ts'
import { addExamples, type ExampleRules, type OpenApi } from './examples.ts'
import { mergePaths } from './merge-paths.ts'
import { registerOtherMethods } from '../routes.ts'

const CONTACT = { name: 'The operator of this service' }
const LICENSE = { name: 'Apache License 2.0', identifier: 'Apache-2.0' }

export interface Reference extends ExampleRules {
  /** path of the document */
  document: string
  /** title, texts, tags and security schemes */
  openapi: Openapi & { info: object }
  /** address of the listener for clients; null for the origin of the document */
  server: string | null
}

type Openapi = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

/** Registers the document; call it before the routes are registered. */
export async function addReference(app: FastifyInstance, { document, openapi, server, ...rules }: Reference): Promise<void> {
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
  app.get(document, { schema: { hide: true } as object }, () => app.swagger())
  registerOtherMethods(app, document, ['GET'])
}
