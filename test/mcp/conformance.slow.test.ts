// The protocol's own conformance suite against `/mcp`: which scenarios pass, and why each other one does not apply.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const run = promisify(execFile)
const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'

/** Scenarios that apply to every server. */
const PASSED = ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection']

/** Scenarios of optional features that this server does not have; all but the first two kinds need sessions or streams. */
const NOT_APPLICABLE: Record<string, string[]> = {
  'call tools of the suite’s own reference server by name (test_simple_text, ...); ours are called in mcp.test.ts': [
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'json-schema-2020-12',
  ],
  'no resources, prompts or completion: the service has data and actions, which are tools': [
    'completion-complete',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'the server sends nothing by itself: no stream, so no log messages, progress, sampling or elicitation': [
    'logging-set-level',
    'tools-call-with-logging',
    'tools-call-with-progress',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'server-sse-polling',
  ],
}

let node: TestNode
let withKey: Server
let results: string

beforeAll(async () => {
  // The suite sends no credentials: this proxy adds the key to each of its requests, and otherwise forwards them unchanged.
  withKey = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${node.keys.plus}` }
    // A new connection for each request: a reused one may close just as the next request is sent.
    const passed = httpRequest(`${node.publicUrl}${request.url}`, { method: request.method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => withKey.listen(0, '127.0.0.1', resolve))
  node = await startTestNode({ worker: true, env: { CORS_ORIGINS: `http://localhost:${portOf(withKey)}` } })
  results = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
})

afterAll(async () => {
  withKey.closeAllConnections()
  withKey.close()
  await node.close()
  rmSync(results, { recursive: true })
})

const portOf = (server: Server) => (server.address() as AddressInfo).port

test('every scenario of the suite is listed here', async () => {
  const { stdout } = await run(process.execPath, [SUITE, 'list'])
  const scenarios = [...stdout.split('Client scenarios')[0]!.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name!)
  expect([...PASSED, ...Object.values(NOT_APPLICABLE).flat()].sort()).toEqual(scenarios.sort())
})

test.each(PASSED)('%s', async (scenario) => {
  const url = `http://localhost:${portOf(withKey)}/mcp`
  const { stdout } = await run(process.execPath, [SUITE, 'server', '--url', url, '--scenario', scenario, '-o', results]).catch(
    (failure: { stdout: string }) => failure,
  )
  expect(stdout).toMatch(/Passed: (\d+)\/\1, 0 failed/)
})
