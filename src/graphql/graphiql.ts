// GraphiQL for browsers, from our own server and without outside requests; built from `graphiql/` when the project is installed.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const BUILT = fileURLToPath(new URL('../../dist/graphiql/', import.meta.url))

// The editor adds styles to the page; everything else comes from our own files.
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Mintmark GraphQL</title>
<h1>Mintmark GraphQL</h1>
<p>This is the GraphQL endpoint. Send queries by POST as JSON, with the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>:</p>
<pre>{"query": "{ items(first: 5) { nodes { id name } } }"}</pre>
<p>The GraphiQL editor has not been built on this machine; run <code>npm run prepare</code> to build it.</p>
</html>
`

/** Serves the files of GraphiQL, which need no key. */
export function addGraphiql(app: FastifyInstance): void {
  if (!existsSync(`${BUILT}assets`)) return
  app.register(async (scope) => {
    await scope.register(fastifyStatic, {
      root: `${BUILT}assets`,
      prefix: '/graphql/assets/',
      decorateReply: false,
      // File names contain a hash of their content.
      immutable: true,
      maxAge: '365d',
      schemaHide: true,
    })
  })
}

/** Sends the page, with the demo's key filled in if it may be shown. */
export function sendGraphiql(reply: FastifyReply, demoKey: string | null): void {
  const page = existsSync(`${BUILT}index.html`) ? readFileSync(`${BUILT}index.html`, 'utf8') : NOT_BUILT
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
    .header('cache-control', demoKey ? 'no-store' : 'no-cache')
    // Read by graphiql/main.ts; a key consists of letters, digits and underscores.
    .send(demoKey ? page.replace('<head>', `<head>\n    <meta name="mintmark-demo-key" content="${demoKey}" />`) : page)
}
